! SPDX-License-Identifier: BSD-3-Clause
! Every procedure is called with success, by two ranks. This source is compiled once for each interface: F08 for mpi_f08,
! F90 for module mpi, else mpif.h; with LARGE the counts are of MPI_COUNT_KIND, so that mpi_f08 calls its large forms. The
! procedures that the interface calls are in coverage_<interface>.c (generate.py), which notes what succeeded; it fails the
! program in MPI_FINALIZE if a procedure is missing. With the argument "abort" the program calls MPI_ABORT.
#include "interfaces.inc"
program calls
#if defined(F08)
  use mpi_f08
  use callbacks
  use, intrinsic :: iso_c_binding
#elif defined(F90)
  use mpi
  use, intrinsic :: iso_c_binding
#endif
  implicit none
#if !defined(F08) && !defined(F90)
  include 'mpif.h'
#endif
#ifndef F08
  external :: combine, extent, handle_comm, handle_file, handle_win, handle_session, query, free_state, cancel
#endif
#ifdef LARGE
  integer, parameter :: K = MPI_COUNT_KIND
#else
  integer, parameter :: K = kind(0)
#endif
  integer, parameter :: A = MPI_ADDRESS_KIND, O = MPI_OFFSET_KIND, C = MPI_COUNT_KIND
  ! Results that nobody looks at: that a call succeeds is all that matters here.
  integer :: e, i, rank, other, number, numbers(16)
  integer(K) :: few, some(16)
  integer(A) :: place, places(16)
  integer(C) :: bytes, bytes2
  logical :: flag, flags(4)
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: long_text
  character(len=MPI_MAX_PROCESSOR_NAME) :: processor
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: message_text
  character(len=MPI_MAX_PORT_NAME) :: port
  character(len=300) :: own_name
  integer, asynchronous :: out(64), in(64)
  COMM_T :: comm, comm2, parent, self
  DATATYPE_T :: datatype, datatypes(16)
  ERRHANDLER_T :: errhandler
  FILE_T :: file
  GROUP_T :: group, group2, group3
  INFO_T :: info, info2
  MESSAGE_T :: message
  OP_T :: op
  REQUEST_T :: request, requests(4)
  SESSION_T :: session
  WIN_T :: win
  STATUS_T
#ifdef F08
  type(c_ptr) :: pointer
#else
  integer(A) :: pointer
#endif
#ifdef F90
  type(c_ptr) :: c_pointer
  type(MPI_Status) :: other_status
#elif defined(F08)
  integer :: other_status(MPI_STATUS_SIZE)
#endif

  call MPI_Abi_set_fortran_booleans(4, .true., .false., e)
  call set_sizes()
  call start()
  call MPI_Comm_get_parent(parent, e)
  if (parent /= MPI_COMM_NULL) then
    call leave_out()
    call MPI_Comm_disconnect(parent, e)
    call MPI_Finalize(e)
    stop
  end if
  call get_command_argument(1, own_name)
  if (own_name == 'abort') call MPI_Abort(MPI_COMM_WORLD, 7, e)
  call get_command_argument(0, own_name)
  self = MPI_COMM_SELF
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  other = 1 - rank
  out = [(i, i = 1, 64)]
  call inquire_environment()
  call use_errors()
  call use_infos()
  call send_messages()
  call buffer_messages()
  call complete_requests()
  call make_datatypes()
  call pack_data()
  call collect()
  call collect_nonblocking()
  call collect_again_and_again()
  call make_groups()
  call make_communicators()
  call keep_attributes()
  call make_topologies()
  call ask_neighbors()
  call use_windows()
  call use_files()
  call use_files_together()
  call run_generalized()
  call join_processes()
  call use_sessions()
  call use_old_procedures()
  call MPI_Finalize(e)
contains
  ! The ranks start MPI in the two ways that there are.
  subroutine start()
    character(len=12) :: number_of_rank
    call get_environment_variable('PMI_RANK', number_of_rank)
    if (number_of_rank == '0') then
      call MPI_Init(e)
    else
      call MPI_Init_thread(MPI_THREAD_SERIALIZED, number, e)
    end if
  end subroutine

  ! Takes the next message from this rank.
  subroutine take()
    call MPI_Recv(in, 1_K, MPI_INTEGER, 0, 0, self, status, e)
  end subroutine

  subroutine finish()
    call MPI_Wait(request, status, e)
  end subroutine

  ! Runs a persistent operation once.
  subroutine run()
    call MPI_Start(request, e)
    call MPI_Wait(request, status, e)
    call MPI_Request_free(request, e)
  end subroutine

#include "environment.inc"
#include "messages.inc"
#include "datatypes.inc"
#include "collectives.inc"
#include "communicators.inc"
#include "windows.inc"
#include "files.inc"
#include "processes.inc"
end program
