! SPDX-License-Identifier: BSD-3-Clause
! Callbacks with Fortran's calling conventions in mpi_f08: reduction operations on predefined and derived types, attribute
! copy and delete, error handlers, generalized requests, data representations. They see Fortran's handles.
module functions
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  type(MPI_Datatype) :: expected_type
  integer :: copies = 0, deletes = 0, errors = 0, queries = 0, frees = 0, cancels = 0, extents = 0
  type(MPI_Comm) :: failed
  external :: check
contains
  ! The second one is not commutative: what is left of both, first in the first's place.
  subroutine add(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    call check(datatype == MPI_INTEGER, 'the operation sees MPI_INTEGER')
    b = a + b
  end subroutine

  subroutine add_pairs(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [2 * len])
    call c_f_pointer(inoutvec, b, [2 * len])
    call check(datatype == expected_type, 'the operation sees the derived type')
    b = a + b
  end subroutine

  subroutine add_large(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
    call check(datatype == MPI_INTEGER, 'the operation with large counts sees MPI_INTEGER')
  end subroutine

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call check(oldcomm == MPI_COMM_SELF .and. extra_state == 4711, 'the copy function has its arguments')
    attribute_val_out = attribute_val_in + 1
    flag = .true.
    copies = copies + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    call check(extra_state == 4711, 'the delete function has its extra state')
    call check(attribute_val == 2_8**40 .or. attribute_val == 2_8**40 + 1, 'the delete function has the value')
    deletes = deletes + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handle(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    failed = comm
    errors = errors + 1
  end subroutine

  subroutine handle_file(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    call check(file == MPI_FILE_NULL, 'the error handler has the file')
    errors = errors + 1
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    status%MPI_TAG = int(extra_state)
    status%MPI_SOURCE = 3
    call MPI_Status_set_elements(status, MPI_INTEGER, 5)
    call MPI_Status_set_cancelled(status, .false.)
    queries = queries + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free_state(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    call check(extra_state == 815, 'the free function has its extra state')
    frees = frees + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    call check(.not. complete, 'the request is not complete when it is cancelled')
    cancels = cancels + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_of(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    call check(datatype == MPI_INTEGER .and. extra_state == 99, 'the extent function has its arguments')
    extent = 4
    extents = extents + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine find_numbers(userbuf, filebuf, position, count, user, file)
    type(c_ptr), intent(in) :: userbuf, filebuf
    integer(MPI_OFFSET_KIND), intent(in) :: position
    integer, intent(in) :: count
    integer, pointer, intent(out) :: user(:), file(:)
    call c_f_pointer(userbuf, user, [position + count])
    user => user(position + 1:)
    call c_f_pointer(filebuf, file, [count])
  end subroutine

  ! In the file every number is its complement.
  subroutine restore(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call find_numbers(userbuf, filebuf, position, count, user, file)
    user = not(file)
    call check(datatype == MPI_INTEGER .and. extra_state == 99, 'the conversion has its arguments')
    ierror = MPI_SUCCESS
  end subroutine

  subroutine complement(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call find_numbers(userbuf, filebuf, position, count, user, file)
    file = not(user)
    call check(datatype == MPI_INTEGER, 'the conversion has the datatype')
    ierror = MPI_SUCCESS
  end subroutine
end module

program operations
  use functions
  implicit none
  integer :: rank, ranks
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call reduce_own()
  call keep_attributes()
  call handle_errors()
  call run_requests()
  call convert_data()
  call MPI_Finalize()
contains
  subroutine reduce_own()
    type(MPI_Op) :: op
    logical :: commute
    integer :: one, sum, pair(2), pairs(2)
    call MPI_Op_create(add, .true., op)
    call MPI_Op_commutative(op, commute)
    call check(commute, 'the operation is commutative')
    one = rank + 1
    call MPI_Allreduce(one, sum, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(sum == ranks * (ranks + 1) / 2, 'the sum of all ranks')
    call MPI_Op_free(op)
    call check(op == MPI_OP_NULL, 'the freed operation is null')
    call MPI_Op_create(add_pairs, .false., op)
    call MPI_Type_contiguous(2, MPI_INTEGER, expected_type)
    call MPI_Type_commit(expected_type)
    pair = [rank, 1]
    call MPI_Allreduce(pair, pairs, 1, expected_type, op, MPI_COMM_WORLD)
    call check(pairs(1) == ranks * (ranks - 1) / 2 .and. pairs(2) == ranks, 'the sums of pairs')
    call MPI_Op_free(op)
    call MPI_Type_free(expected_type)
    call MPI_Op_create_c(add_large, .true., op)
    call MPI_Allreduce(one, sum, 1_MPI_COUNT_KIND, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(sum == ranks * (ranks + 1) / 2, 'the sum by an operation with large counts')
    call MPI_Op_free(op)
  end subroutine

  subroutine keep_attributes()
    integer :: keyval, ierror, tag_ub
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    type(MPI_Comm) :: again
    call MPI_Comm_create_keyval(copy, delete, keyval, 4711_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 2_MPI_ADDRESS_KIND**40)
    call MPI_Comm_dup(MPI_COMM_SELF, again)
    call MPI_Comm_get_attr(again, keyval, value, flag)
    call check(flag .and. value == 2_8**40 + 1 .and. copies == 1, 'the copy of the attribute')
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, flag)
    call check(flag .and. value == 2_8**40, 'the attribute')
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval)
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, flag)
    call check(.not. flag .and. deletes == 1, 'the deleted attribute')
    call MPI_Comm_free(again)
    call check(deletes == 2, 'the attribute is deleted with its communicator')
    call MPI_Comm_free_keyval(keyval)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, -5_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, again)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval)
    call MPI_Comm_get_attr(again, keyval, value, flag)
    call check(flag .and. value == -5, 'the attribute that MPI_COMM_DUP_FN copied')
    call MPI_Comm_free(again)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    tag_ub = huge(tag_ub)
    call check(flag .and. value >= 32767 .and. value <= tag_ub, 'MPI_TAG_UB is the value itself')
  end subroutine

  subroutine handle_errors()
    type(MPI_Errhandler) :: errhandler
    type(MPI_Comm) :: comm
    integer :: ierror
    call MPI_Comm_create_errhandler(handle, errhandler)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_set_errhandler(comm, errhandler)
    call MPI_Send(rank, -1, MPI_INTEGER, 0, 0, comm, ierror)
    call check(errors == 1 .and. failed == comm .and. ierror /= MPI_SUCCESS, 'the error handler is called')
    call MPI_Comm_free(comm)
    call MPI_File_create_errhandler(handle_file, errhandler)
    call MPI_File_set_errhandler(MPI_FILE_NULL, errhandler)
    call MPI_File_delete('/no/such/file', MPI_INFO_NULL, ierror)
    call check(errors == 2 .and. ierror /= MPI_SUCCESS, 'the error handler of files is called')
    call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN)
  end subroutine

  subroutine run_requests()
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: count
    logical :: flag
    call MPI_Grequest_start(query, free_state, cancel, 815_MPI_ADDRESS_KIND, request)
    call MPI_Test(request, flag, status)
    call check(.not. flag, 'the request is not complete')
    call MPI_Cancel(request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(status%MPI_TAG == 815 .and. status%MPI_SOURCE == 3 .and. count == 5, 'the status of the query function')
    call check(request == MPI_REQUEST_NULL .and. queries == 1 .and. frees == 1 .and. cancels == 1, &
               'all functions of the request were called once')
  end subroutine

  subroutine convert_data()
    type(MPI_File) :: file
    integer :: out(8), in(8), raw(8), i
    character(len=64) :: name
    call MPI_Register_datarep('as it is', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, &
                              99_MPI_ADDRESS_KIND)
    call MPI_Register_datarep('complement', restore, complement, extent_of, 99_MPI_ADDRESS_KIND)
    write (name, '(a,i0)') 'fortran-datarep-', rank
    call MPI_File_open(MPI_COMM_SELF, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'complement', MPI_INFO_NULL)
    out = [(i * 1000 + rank, i = 1, 8)]
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, out, 8, MPI_INTEGER, MPI_STATUS_IGNORE)
    in = 0
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, in, 8, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(in == out), 'what is written and read is the same')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, raw, 8, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(raw == not(out)), 'the file has converted data')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'as it is', MPI_INFO_NULL)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, in, 8, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(in == raw), 'MPI_CONVERSION_FN_NULL converts nothing')
    call MPI_File_close(file)
    call check(extents > 0, 'the extent function was called')
  end subroutine
end program
