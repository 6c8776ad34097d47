! SPDX-License-Identifier: BSD-3-Clause
! Nonblocking receives into ASYNCHRONOUS variables, compiled with -O3: the compiler must not use a value from before the
! wait after it.
module work
  use mpi_f08
  implicit none
contains
  ! `before` is there to tempt the optimiser: without ASYNCHRONOUS, gfortran takes that value for the one after the wait,
  ! since the call of MPI_Waitall has nothing to do with the variable.
  integer function received(from, value)
    integer, intent(in) :: from, value
    integer, asynchronous :: buffer
    integer :: before
    type(MPI_Request) :: requests(2)
    buffer = 1
    call MPI_Irecv(buffer, 1, MPI_INTEGER, from, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(value, 1, MPI_INTEGER, from, 0, MPI_COMM_WORLD, requests(2))
    before = buffer
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    received = buffer + 0 * before
  end function
end module

program asynchronous_buffers
  use work
  implicit none
  integer :: rank, ranks, i, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  total = 0
  do i = 1, 1000
    total = total + received(ieor(rank, 1), 2 * i)
  end do
  if (total /= 1001000) error stop 'a receive went unseen'
  call MPI_Finalize()
end program
