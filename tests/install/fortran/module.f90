! The same with module mpi.
program hello
  use mpi
  implicit none
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  integer :: length, rank, total, ranks, ierror
  call MPI_Init(ierror)
  call MPI_Get_library_version(version, length, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(2a,i0,a,i0)', version(1:length), ': ', total, ' of ', ranks
  call MPI_Finalize(ierror)
end program
