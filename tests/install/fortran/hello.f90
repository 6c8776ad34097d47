! Says which library it runs on, and that messages arrive.
program hello
  use mpi_f08
  implicit none
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  integer :: length, rank, total, ranks
  call MPI_Init()
  call MPI_Get_library_version(version, length)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(2a,i0,a,i0)', version(1:length), ': ', total, ' of ', ranks
  call MPI_Finalize()
  if (total /= ranks) error stop 'a message is lost'
end program
