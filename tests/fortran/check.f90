! SPDX-License-Identifier: BSD-3-Clause
! Ends the job if a condition does not hold.
subroutine check(condition, what)
  use mpi_f08
  implicit none
  logical, intent(in) :: condition
  character(len=*), intent(in) :: what
  if (condition) return
  print '(2a)', 'not so: ', what
  call MPI_Abort(MPI_COMM_WORLD, 1)
end subroutine
