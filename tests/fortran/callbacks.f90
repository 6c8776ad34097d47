! SPDX-License-Identifier: BSD-3-Clause
! Callbacks of mpi_f08 that do nothing, for tests that only hand them over.
module callbacks
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
contains
  subroutine combine(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
  end subroutine
  subroutine combine_c(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
  end subroutine
  subroutine extent(datatype, extent_of, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent_of, extra_state
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
  subroutine handle_comm(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
  end subroutine
  subroutine handle_file(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
  end subroutine
  subroutine handle_win(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
  end subroutine
  subroutine handle_session(session, error_code)
    type(MPI_Session) :: session
    integer :: error_code
  end subroutine
  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, 0)
    call MPI_Status_set_cancelled(status, .false.)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine free_state(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
end module
