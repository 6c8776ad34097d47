! SPDX-License-Identifier: BSD-3-Clause
! Threads reduce sections, each on a communicator of its own, so that numbers of requests that one thread has completed are
! used again by others at once: each finds its own data in its section.
program threads
  use mpi_f08
  implicit none
  integer, parameter :: workers = 4, rounds = 3000
  integer :: provided, worker, wrong
  type(MPI_Comm) :: comms(workers)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  if (provided < MPI_THREAD_MULTIPLE) error stop 'no threads'
  do worker = 1, workers
    call MPI_Comm_dup(MPI_COMM_SELF, comms(worker))
  end do
  wrong = 0
  !$omp parallel do num_threads(workers) schedule(static, 1) reduction(+:wrong)
  do worker = 1, workers
    wrong = wrong + reduce(worker)
  end do
  call MPI_Finalize()
  if (wrong > 0) error stop 'a section without its data'
contains
  integer function reduce(worker)
    integer, intent(in) :: worker
    integer, asynchronous :: line(8)
    integer :: round, from(4)
    type(MPI_Request) :: request
    reduce = 0
    do round = 1, rounds
      line = -1
      from = 10 * round + worker
      call MPI_Iallreduce(from, line(::2), 4, MPI_INTEGER, MPI_SUM, comms(worker), request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      if (any(line(::2) /= from) .or. any(line(2::2) /= -1)) reduce = reduce + 1
    end do
  end function
end program
