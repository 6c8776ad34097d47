! SPDX-License-Identifier: BSD-3-Clause
! Error texts name the procedure and its arguments: a number that is no handle, a negative count, and an error that is
! returned to a call without ierror, which is told on standard error (the test looks for it there).
program errors
  use mpi_f08
  implicit none
  integer :: ierror, number
  type(MPI_Comm) :: wrong
  call MPI_Init()
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  wrong%MPI_VAL = 123456789
  call MPI_Comm_rank(wrong, number, ierror)
  call expect('MPI_Comm_rank(comm=0x75bcd15, ', 'comm', MPI_ERR_COMM)
  wrong%MPI_VAL = 5
  call MPI_Comm_size(wrong, number, ierror)
  call expect('MPI_Comm_size(comm=0x5, ', 'comm', MPI_ERR_COMM)
  call MPI_Send(number, -7, MPI_INTEGER, 0, 3, MPI_COMM_SELF, ierror)
  call expect('MPI_Send(buf=', 'count=-7, datatype=MPI_INTEGER, dest=0, tag=3, comm=MPI_COMM_SELF', MPI_ERR_COUNT)
  call MPI_Send(number, -8_MPI_COUNT_KIND, MPI_INTEGER, 0, 3, MPI_COMM_SELF, ierror)
  call expect('MPI_Send_c(buf=', 'count=-8', MPI_ERR_COUNT)
  call MPI_Comm_join(-1, wrong, ierror)
  call expect('MPI_Comm_join(fd=-1, ', 'fd', MPI_ERR_ARG)
  call wrong_sections()
  call MPI_Send(number, -9, MPI_INTEGER, 0, 3, MPI_COMM_SELF)
  call MPI_Finalize()
contains
  ! The call itself says what is wrong, with a section as without; and a section is too short.
  subroutine wrong_sections()
    integer :: line(10)
    type(MPI_Datatype) :: none
    line = 0
    call MPI_Send(line(::2), -3, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call expect('MPI_Send(buf=', 'count=-3', MPI_ERR_COUNT)
    none%MPI_VAL = 5
    call MPI_Send(line(::2), 3, none, 0, 0, MPI_COMM_SELF, ierror)
    call expect('MPI_Send(buf=', 'datatype=0x5', MPI_ERR_TYPE)
    none%MPI_VAL = 987654321
    call MPI_Send(line(::2), 3, none, 0, 0, MPI_COMM_SELF, ierror)
    call expect('MPI_Send(buf=', 'datatype=0x3ade68b1', MPI_ERR_TYPE)
    call MPI_Send(line(::2), 3, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF, ierror)
    call expect('MPI_Send(buf=', 'MPI_DATATYPE_NULL', MPI_ERR_TYPE)
    call MPI_Send(line(::2), 6, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call expect('MPI_Send: ', 'an array section of 20 bytes', MPI_ERR_BUFFER)
  end subroutine

  subroutine expect(begin, within, class)
    character(len=*), intent(in) :: begin, within
    integer, intent(in) :: class
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length, found
    call MPI_Error_class(ierror, found)
    call MPI_Error_string(ierror, text, length)
    if (found == class .and. index(text, begin) == 1 .and. index(text, within) > 0) return
    print '(a,i0,a)', 'class ', found, ': ' // text(:length)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
