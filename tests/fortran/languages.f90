! SPDX-License-Identifier: BSD-3-Clause
! Module mpi together with C (languages.c): attributes set in one language and read in the other, handles and statuses as
! arguments, special addresses, strings, the deprecated attribute procedures, C_PTR and Cray pointers.
module old_functions
  implicit none
  integer :: old_deletes = 0
contains
  subroutine old_delete(comm, keyval, attribute_val, extra_state, ierr)
    integer :: comm, keyval, attribute_val, extra_state, ierr
    if (attribute_val /= 77 .or. extra_state /= 6) error stop 'the old delete function has its arguments'
    old_deletes = old_deletes + 1
    ierr = 0
  end subroutine
end module

program languages
  use mpi
  use old_functions
  use, intrinsic :: iso_c_binding
  implicit none
  external :: check
  integer :: ierror, rank
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call share_attributes()
  call share_handles()
  call use_strings()
  call use_addresses()
  call use_memory()
  call use_booleans()
  call MPI_Finalize(ierror)
contains
  subroutine share_attributes()
    interface
      integer(c_intptr_t) function c_reads(comm, keyval) bind(C)
        import
        integer, value :: comm, keyval
      end function
      subroutine c_sets(comm, keyval, value) bind(C)
        import
        integer, value :: comm, keyval
        integer(c_intptr_t), value :: value
      end subroutine
      integer function c_keyval() bind(C)
      end function
    end interface
    integer :: keyval, small
    integer(MPI_ADDRESS_KIND) :: value, zero
    logical :: flag
    zero = 0
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, zero, ierror)
    value = -123456789012_8
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, ierror)
    call check(c_reads(MPI_COMM_SELF, keyval) == value, 'C has a pointer to what Fortran set')
    call c_sets(MPI_COMM_SELF, keyval, 4242_c_intptr_t)
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, flag, ierror)
    call check(flag .and. value == 4242, 'Fortran has the pointer of C as an integer')
    call MPI_Comm_free_keyval(keyval, ierror)
    keyval = c_keyval()
    value = 99
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, ierror)
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, flag, ierror)
    call check(flag .and. value == 99, 'a key of C takes a value of Fortran')
    call MPI_Keyval_create(MPI_NULL_COPY_FN, old_delete, keyval, 6, ierror)
    call MPI_Attr_put(MPI_COMM_SELF, keyval, 77, ierror)
    call MPI_Attr_get(MPI_COMM_SELF, keyval, small, flag, ierror)
    call check(flag .and. small == 77, 'the deprecated procedures')
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, flag, ierror)
    call check(flag .and. value == 77, 'the deprecated and the other procedures share attributes')
    call MPI_Attr_delete(MPI_COMM_SELF, keyval, ierror)
    call check(old_deletes == 1, 'the old delete function was called')
  end subroutine

  subroutine share_handles()
    interface
      integer function c_makes_type() bind(C)
      end function
      integer function c_checks(comm, status) bind(C)
        import
        integer, value :: comm
        integer :: status(*)
      end function
    end interface
    integer :: comm, datatype, size, status(MPI_STATUS_SIZE), result
    type(MPI_Status) :: f08_status
    datatype = c_makes_type()
    call MPI_Type_size(datatype, size, ierror)
    call check(size == 12, 'Fortran uses a datatype of C')
    call MPI_Type_free(datatype, ierror)
    call check(datatype == MPI_DATATYPE_NULL, 'the freed datatype is null')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    status = 0
    status(MPI_SOURCE) = 5
    status(MPI_TAG) = 6
    status(MPI_ERROR) = 7
    call check(c_checks(comm, status) == 1, 'C uses a communicator and a status of Fortran')
    call check(c_checks(comm, MPI_STATUS_IGNORE) == 2, 'C knows MPI_STATUS_IGNORE of Fortran')
    call MPI_Status_f2f08(status, f08_status, ierror)
    call check(f08_status%MPI_SOURCE == 5 .and. f08_status%MPI_TAG == 6 .and. f08_status%MPI_ERROR == 7, &
               'a status becomes a derived type')
    call MPI_Comm_compare(comm, MPI_COMM_WORLD, result, ierror)
    call check(result == MPI_CONGRUENT, 'the duplicate is congruent')
    call MPI_Comm_free(comm, ierror)
  end subroutine

  subroutine use_strings()
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=5) :: short
    character(len=12) :: value
    integer :: info, length, keys
    logical :: flag
    call MPI_Comm_set_name(MPI_COMM_SELF, '  padded   ', ierror)
    call MPI_Comm_get_name(MPI_COMM_SELF, name, length, ierror)
    call check(name == '  padded' .and. length == 8, 'names lose trailing blanks only')
    call MPI_Comm_get_name(MPI_COMM_SELF, short, length, ierror)
    call check(short == '  pad' .and. length == 5, 'a short string gets what fits')
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, '  key ', '  a value ', ierror)
    length = 3
    value = 'xxxxxxxxxxxx'
    call MPI_Info_get_string(info, 'key', length, value, flag, ierror)
    call check(flag .and. length == 7 .and. value == 'a v', 'buflen counts no NUL, values are stripped and cut')
    length = 0
    value = 'untouched'
    call MPI_Info_get_string(info, 'key', length, value, flag, ierror)
    call check(flag .and. length == 7 .and. value == 'untouched', 'buflen 0 only asks')
    call MPI_Info_get(info, 'key', 12, value, flag, ierror)
    call check(flag .and. value == 'a value', 'the deprecated MPI_Info_get')
    call MPI_Info_get_valuelen(info, 'none', length, flag, ierror)
    call check(.not. flag, 'a key that is not there')
    call MPI_Info_get_nkeys(info, keys, ierror)
    call MPI_Info_get_nthkey(info, 0, name, ierror)
    call check(keys == 1 .and. name == 'key', 'the name of a key')
    call MPI_Info_free(info, ierror)
  end subroutine

  subroutine use_addresses()
    integer :: datatype, target_value, got, statuses(MPI_STATUS_SIZE, 2), requests(2), i, graph, weights(1), ranks
    integer(MPI_ADDRESS_KIND) :: address(1)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    target_value = 31 + rank
    call MPI_Get_address(target_value, address(1), ierror)
    call MPI_Type_create_hindexed(1, [1], address, MPI_INTEGER, datatype, ierror)
    call MPI_Type_commit(datatype, ierror)
    call MPI_Sendrecv(MPI_BOTTOM, 1, datatype, rank, 0, got, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierror)
    call check(got == target_value, 'MPI_BOTTOM')
    call MPI_Type_free(datatype, ierror)
    got = 1
    call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check(got == ranks, 'MPI_IN_PLACE')
    do i = 1, 2
      call MPI_Irecv(got, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, requests(i), ierror)
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call check(all(requests == MPI_REQUEST_NULL), 'the requests are null after MPI_Waitall')
    call MPI_Irecv(got, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitany(2, requests, i, statuses(:, 1), ierror)
    call check(i == 2 .and. statuses(MPI_SOURCE, 1) == MPI_PROC_NULL, 'indices count from one')
    call MPI_Waitany(2, requests, i, MPI_STATUS_IGNORE, ierror)
    call check(i == MPI_UNDEFINED, 'the index of nothing is MPI_UNDEFINED')
    call MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, [0], MPI_UNWEIGHTED, 1, [0], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                        .false., graph, ierror)
    call MPI_Dist_graph_neighbors(graph, 1, weights, MPI_UNWEIGHTED, 1, weights, MPI_UNWEIGHTED, ierror)
    call check(ierror == MPI_SUCCESS .and. weights(1) == 0, 'MPI_UNWEIGHTED')
    call MPI_Comm_free(graph, ierror)
  end subroutine

  subroutine use_memory()
    type(c_ptr) :: memory
    integer, pointer :: numbers(:)
    integer(MPI_ADDRESS_KIND) :: bytes
    integer :: cray(4)
    pointer(place, cray)
    bytes = 4000
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, memory, ierror)
    call c_f_pointer(memory, numbers, [1000])
    numbers = 3
    call check(sum(numbers) == 3000, 'memory as C_PTR')
    call MPI_Free_mem(numbers, ierror)
    bytes = 16
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, place, ierror)
    cray = 9
    call check(sum(cray) == 36, 'memory as Cray pointer')
    call MPI_Free_mem(cray, ierror)
  end subroutine

  subroutine use_booleans()
    logical :: yes, no, is_set, remain(2), periods(2), flag
    integer :: comm, sub, dims(2), coords(2), size
    call MPI_Abi_get_fortran_booleans(4, yes, no, is_set, ierror)
    call check(is_set .and. yes .and. .not. no, 'MPI knows the truth values')
    call MPI_Initialized(flag, ierror)
    call check(flag .eqv. .true., 'a truth value from MPI')
    dims = 1
    call MPI_Cart_create(MPI_COMM_SELF, 2, dims, [.true., .false.], .false., comm, ierror)
    call MPI_Cart_get(comm, 2, dims, periods, coords, ierror)
    call check(periods(1) .and. .not. periods(2), 'arrays of truth values')
    remain = [.false., .true.]
    call MPI_Cart_sub(comm, remain, sub, ierror)
    call MPI_Cartdim_get(sub, size, ierror)
    call check(size == 1, 'MPI_Cart_sub')
    call MPI_Sizeof(dims(1), size, ierror)
    call check(size == 4, 'MPI_Sizeof')
    call MPI_Comm_free(sub, ierror)
    call MPI_Comm_free(comm, ierror)
  end subroutine
end program
