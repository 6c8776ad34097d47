! SPDX-License-Identifier: BSD-3-Clause
! The same callbacks for module mpi and mpif.h.
subroutine combine(invec, inoutvec, len, datatype)
  integer :: invec(*), inoutvec(*), len, datatype
end subroutine
subroutine combine_c(invec, inoutvec, len, datatype)
  integer :: invec(*), inoutvec(*), datatype
  integer(8) :: len
end subroutine
subroutine extent(datatype, extent_of, extra_state, ierror)
  integer :: datatype, ierror
  integer(8) :: extent_of, extra_state
  ierror = 0
end subroutine
subroutine handle_comm(comm, error_code)
  integer :: comm, error_code
end subroutine
subroutine handle_file(file, error_code)
  integer :: file, error_code
end subroutine
subroutine handle_win(win, error_code)
  integer :: win, error_code
end subroutine
subroutine handle_session(session, error_code)
  integer :: session, error_code
end subroutine
subroutine query(extra_state, status, ierror)
  integer(8) :: extra_state
  integer :: status(*), ierror
  ierror = 0
end subroutine
subroutine free_state(extra_state, ierror)
  integer(8) :: extra_state
  integer :: ierror
  ierror = 0
end subroutine
subroutine cancel(extra_state, complete, ierror)
  integer(8) :: extra_state
  logical :: complete
  integer :: ierror
  ierror = 0
end subroutine
