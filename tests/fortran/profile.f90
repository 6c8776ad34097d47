! SPDX-License-Identifier: BSD-3-Clause
! A tool in Fortran: procedures of its own by the names that the interfaces call, MPI_Barrier of mpif.h and module mpi,
! MPI_Barrier_f08 and MPI_Send_f08ts of mpi_f08. They count, and call MPI's by the names with PMPI_.
module counts
  implicit none
  integer :: barriers = 0, barriers_f08 = 0, sends = 0, elements = 0
end module

subroutine MPI_Barrier(comm, ierror)
  use counts
  implicit none
  integer :: comm, ierror
  external :: PMPI_Barrier
  barriers = barriers + 1
  call PMPI_Barrier(comm, ierror)
end subroutine

subroutine MPI_Barrier_f08(comm, ierror)
  use counts
  use mpi_f08, only: MPI_Comm, PMPI_Barrier
  implicit none
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  barriers_f08 = barriers_f08 + 1
  call PMPI_Barrier(comm, ierror)
end subroutine

subroutine MPI_Send_f08ts(buf, count, datatype, dest, tag, comm, ierror) bind(C, name='MPI_Send_f08ts')
  use counts
  use mpi_f08, only: MPI_Comm, MPI_Datatype, PMPI_Send
  implicit none
  type(*), dimension(..), intent(in) :: buf
  integer, intent(in) :: count, dest, tag
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  sends = sends + 1
  elements = elements + size(buf)
  call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
end subroutine

subroutine meet_in_f90()
  use mpi
  implicit none
  integer :: ierror
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
end subroutine

program profile
  use counts
  use mpi_f08
  implicit none
  integer, asynchronous :: line(9), got(5)
  integer :: i, ierror
  type(MPI_Request) :: request
  call MPI_Init()
  call meet_in_f90()
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  line = [(i, i = 1, 9)]
  call MPI_Irecv(got, 5, MPI_INTEGER, 0, 0, MPI_COMM_SELF, request)
  call MPI_Send(line(::2), 5, MPI_INTEGER, 0, 0, MPI_COMM_SELF)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Finalize()
  if (barriers /= 1 .or. barriers_f08 /= 2 .or. sends /= 1 .or. elements /= 5) error stop 'calls passed the tool by'
  if (any(got /= line(::2))) error stop 'the section did not arrive'
end program
