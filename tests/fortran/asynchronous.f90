! SPDX-License-Identifier: BSD-3-Clause
! Nonblocking receives into ASYNCHRONOUS variables, compiled with -O3: the compiler must not keep the variable in a
! register, or read it before the wait.
module work
  use mpi_f08
  implicit none
contains
  ! With everything in sight of the optimiser, the local variable has the constant 1 at its use unless something told it
  ! that MPI changes the variable between MPI_Irecv and MPI_Wait.
  integer function received(from, value)
    integer, intent(in) :: from, value
    integer, asynchronous :: buffer
    type(MPI_Request) :: requests(2)
    buffer = 1
    call MPI_Irecv(buffer, 1, MPI_INTEGER, from, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(value, 1, MPI_INTEGER, from, 0, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    received = buffer
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
