! SPDX-License-Identifier: BSD-3-Clause
! Module mpi_f08 beside C between two ranks, in turns: half of a ping-pong of 8 bytes, the cost of a call alone (to
! MPI_PROC_NULL), and of 1 MiB as an array section beside the equal datatype. Prints lines "name value unit": the best of
! all turns, and, since the machine changes from turn to turn, the median of what Fortran costs more in a turn.
program fortran_bench
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: repetitions = 401, rows = 512, columns = 512
  interface
    real(c_double) function c_latency(bytes, count) bind(C)
      import
      integer(c_int), value :: bytes, count
    end function
    real(c_double) function c_null(count) bind(C)
      import
      integer(c_int), value :: count
    end function
  end interface
  integer :: rank, i, k
  real(8) :: seconds(repetitions, 6), plate(2 * rows, columns)
  type(MPI_Datatype) :: column, every_second
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  ! The datatype of the places of the section below.
  call MPI_Type_vector(rows, 1, 2, MPI_DOUBLE_PRECISION, column)
  call MPI_Type_create_hvector(columns / 2, 1, int(2 * rows * 8 * 2, MPI_ADDRESS_KIND), column, every_second)
  call MPI_Type_commit(every_second)
  plate = 0
  do i = 1, repetitions
    ! Whoever comes second finds the machine warmer, so they change places.
    do k = 1, 2
      if (k == 1 .eqv. modulo(i, 2) == 1) then
        seconds(i, 1) = latency(400)
        seconds(i, 3) = call_cost(2000)
        seconds(i, 5) = transfer(3, .true.)
      else
        seconds(i, 2) = c_latency(8, 400)
        seconds(i, 4) = c_null(2000)
        seconds(i, 6) = transfer(3, .false.)
      end if
    end do
  end do
  if (rank == 0) then
    call tell('f08-latency-8B', minval(seconds(:, 1)) * 1e6, 'us')
    call tell('f08-latency-8B-in-C', minval(seconds(:, 2)) * 1e6, 'us')
    call tell('f08-latency-8B-more', median(seconds(:, 1) - seconds(:, 2)) * 1e9, 'ns')
    call tell('f08-call', minval(seconds(:, 3)) * 1e9, 'ns')
    call tell('f08-call-in-C', minval(seconds(:, 4)) * 1e9, 'ns')
    call tell('f08-section-1MiB', minval(seconds(:, 5)) * 1e6, 'us')
    call tell('f08-datatype-1MiB', minval(seconds(:, 6)) * 1e6, 'us')
    call tell('f08-section-ratio', median(seconds(:, 5) / seconds(:, 6)), 'x')
  end if
  call MPI_Type_free(column)
  call MPI_Type_free(every_second)
  call MPI_Finalize()
contains
  subroutine tell(name, value, unit)
    character(len=*), intent(in) :: name, unit
    real(8), intent(in) :: value
    print '(a,1x,f0.4,1x,a)', name, value, unit
  end subroutine

  real(8) function latency(count)
    integer, intent(in) :: count
    integer :: k
    real(8) :: out, in
    out = 1
    call MPI_Barrier(MPI_COMM_WORLD)
    latency = MPI_Wtime()
    do k = 1, count
      if (rank == 0) then
        call MPI_Send(out, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD)
        call MPI_Recv(in, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      else
        call MPI_Recv(in, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Send(out, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD)
      end if
    end do
    latency = (MPI_Wtime() - latency) / count / 2
  end function

  real(8) function call_cost(count)
    integer, intent(in) :: count
    integer :: k
    real(8) :: out
    out = 1
    call_cost = MPI_Wtime()
    do k = 1, count
      call MPI_Send(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
    end do
    call_cost = (MPI_Wtime() - call_cost) / count
  end function

  ! Every second number of the plate.
  real(8) function transfer(count, is_section)
    integer, intent(in) :: count
    logical, intent(in) :: is_section
    integer :: k
    call MPI_Barrier(MPI_COMM_WORLD)
    transfer = MPI_Wtime()
    do k = 1, count
      if (rank == 0 .and. is_section) then
        call MPI_Send(plate(::2, ::2), rows * columns / 2, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD)
      else if (rank == 0) then
        call MPI_Send(plate, 1, every_second, 1, 0, MPI_COMM_WORLD)
      else if (is_section) then
        call MPI_Recv(plate(::2, ::2), rows * columns / 2, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      else
        call MPI_Recv(plate, 1, every_second, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      end if
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    transfer = (MPI_Wtime() - transfer) / count
  end function

  real(8) function median(values)
    real(8), intent(in) :: values(:)
    integer :: k
    do k = 1, size(values)
      median = values(k)
      if (count(values < median) <= size(values) / 2 .and. count(values > median) <= size(values) / 2) return
    end do
  end function
end program
