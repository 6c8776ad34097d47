! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program built with another MPI's own compiler: everything that Fortran's interface has of its own comes
! through the door's library for Fortran. Compiled with F08 for mpi_f08, with F90 for module mpi, else for mpif.h; with
! SECTIONS where mpi_f08 takes sections of arrays. Runs on two ranks or more; the argument is the name of a file to make.
#ifdef F08
#define T(name) type(name)
#define STATUS_OF(name) type(MPI_Status) :: name
#define STATUSES(name) type(MPI_Status) :: name(2)
#define SOURCE_OF(name) name%MPI_SOURCE
#define TAG_OF(name) name%MPI_TAG
#else
#define STATUS_OF(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name) integer :: name(MPI_STATUS_SIZE, 2)
#define SOURCE_OF(name) name(MPI_SOURCE)
#define TAG_OF(name) name(MPI_TAG)
#endif
module counting
  implicit none
  integer :: copies = 0, deletes = 0, errors = 0
end module

module procedures
  implicit none
contains
#ifdef F08
  subroutine multiply(in, inout, len, datatype)
    use mpi_f08
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: in, inout
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) stop 'datatype of an operation'
    call c_f_pointer(in, a, [len])
    call c_f_pointer(inout, b, [len])
    b = a * b
  end subroutine
  subroutine copy(comm, keyval, extra, in, out, flag, ierror)
    use mpi_f08
    use counting
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copies = copies + 1
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, keyval, val, extra, ierror)
    use mpi_f08
    use counting
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: val, extra
    deletes = deletes + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine failed(comm, code)
    use mpi_f08
    use counting
    type(MPI_Comm) :: comm
    integer :: code
    if (comm == MPI_COMM_WORLD) errors = errors + 1
  end subroutine
#else
  subroutine multiply(in, inout, len, datatype)
    use mpi
    integer :: len, datatype, in(len), inout(len)
    if (datatype /= MPI_INTEGER) stop 'datatype of an operation'
    inout = in * inout
  end subroutine
  subroutine copy(comm, keyval, extra, in, out, flag, ierror)
    use mpi
    use counting
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copies = copies + 1
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, keyval, val, extra, ierror)
    use mpi
    use counting
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: val, extra
    deletes = deletes + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine failed(comm, code)
    use mpi
    use counting
    integer :: comm, code
    if (comm == MPI_COMM_WORLD) errors = errors + 1
  end subroutine
#endif
end module

program main
#if defined(F08)
  use mpi_f08
#elif defined(F90)
  use mpi
#endif
  use counting
  use procedures
  implicit none
#if !defined(F08) && !defined(F90)
  include 'mpif.h'
#endif
#ifndef F08
#define T(name) integer
#endif
  integer :: rank, size, e, i, count, left, right, keyval, length, indices(2), dims(2), coords(2)
  integer :: a(8), b(8), sources(1), degrees(1), window(4)
  integer(MPI_ADDRESS_KIND) :: value, displacements(2), lower, extent
  integer(MPI_OFFSET_KIND) :: offset
  logical :: flag, periods(2), remain(2)
  character(len=MPI_MAX_PROCESSOR_NAME) :: processor
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=20) :: short
  character(len=300) :: filename
  double precision :: t
  STATUS_OF(status)
  STATUSES(statuses)
  T(MPI_Comm) :: comm, line
  T(MPI_Request) :: requests(2)
  T(MPI_Datatype) :: datatype
  T(MPI_Op) :: op
  T(MPI_Group) :: group
  T(MPI_Info) :: info
  T(MPI_Errhandler) :: errhandler
  T(MPI_Win) :: win
  T(MPI_File) :: file

  call get_command_argument(1, filename)
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, size, e)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  call MPI_Get_library_version(version, length, e)
  call check(version(1:6) == 'Murmur' .and. length > 10 .and. version(length + 1:) == ' ', 'library version')
  call MPI_Get_processor_name(processor, length, e)
  call check(length > 0 .and. processor(length + 1:) == ' ', 'processor name')
  t = MPI_Wtime()
  call check(t > 0 .and. MPI_Wtick() > 0, 'time')

  ! Messages: statuses, wildcards, null processes, indices from one.
  a = [(rank * 10 + i, i = 1, 8)]
  b = -1
  call MPI_Irecv(b, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1), e)
  call MPI_Isend(a, 5, MPI_INTEGER, right, 7, MPI_COMM_WORLD, requests(2), e)
  call MPI_Waitall(2, requests, statuses, e)
#ifdef F08
  status = statuses(1)
  call check(requests(1) == MPI_REQUEST_NULL, 'a complete request')
#else
  status = statuses(:, 1)
  call check(requests(1) == MPI_REQUEST_NULL, 'a complete request')
#endif
  call check(SOURCE_OF(status) == left .and. TAG_OF(status) == 7, 'status')
  call MPI_Get_count(status, MPI_INTEGER, count, e)
  call check(count == 5 .and. all(b(1:5) == [(left * 10 + i, i = 1, 5)]) .and. b(6) == -1, 'a message')
  call MPI_Test_cancelled(status, flag, e)
  call check(.not. flag, 'not cancelled')
  call MPI_Recv(b, 8, MPI_INTEGER, MPI_PROC_NULL, 3, MPI_COMM_WORLD, status, e)
  call check(SOURCE_OF(status) == MPI_PROC_NULL .and. TAG_OF(status) == MPI_ANY_TAG, 'status of a null process')
  call MPI_Irecv(b, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1), e)
  requests(2) = MPI_REQUEST_NULL
  call MPI_Send(a, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, e)
  call MPI_Waitany(2, requests, i, MPI_STATUS_IGNORE, e)
  call check(i == 1, 'index of Waitany')
  call MPI_Waitany(2, requests, i, MPI_STATUS_IGNORE, e)
  call check(i == MPI_UNDEFINED, 'no index')
  call MPI_Irecv(b, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(2), e)
  call MPI_Send(a, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, e)
  call MPI_Waitsome(2, requests, count, indices, MPI_STATUSES_IGNORE, e)
  call check(count == 1 .and. indices(1) == 2, 'indices of Waitsome')

  ! Constants that are addresses.
  a = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, a, 8, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  call check(all(a == size * (size + 1) / 2), 'in place')
  a = [(i, i = 1, 8)]
  b = 0
  call MPI_Get_address(a(3), displacements(1), e)
  call MPI_Get_address(a(1), displacements(2), e)
  call MPI_Type_create_hindexed(2, [2, 1], displacements, MPI_INTEGER, datatype, e)
  call MPI_Type_commit(datatype, e)
  call MPI_Sendrecv(MPI_BOTTOM, 1, datatype, right, 0, b, 3, MPI_INTEGER, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
  call check(all(b(1:3) == [3, 4, 1]), 'absolute addresses')
  call MPI_Type_get_extent(datatype, lower, extent, e)
  call check(extent == 16, 'extent')
  call MPI_Type_free(datatype, e)
  call check(datatype == MPI_DATATYPE_NULL, 'a freed datatype')

  ! Operations, attributes, error handlers: procedures of the program.
  call MPI_Op_create(multiply, .true., op, e)
  a = 2
  call MPI_Allreduce(a, b, 8, MPI_INTEGER, op, MPI_COMM_WORLD, e)
  call check(all(b == 2**size), 'an operation of the program')
  call MPI_Op_free(op, e)
  call MPI_Comm_create_keyval(copy, delete, keyval, 5_MPI_ADDRESS_KIND, e)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 37_MPI_ADDRESS_KIND, e)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, e)
  call MPI_Comm_get_attr(comm, keyval, value, flag, e)
  call check(flag .and. value == 42 .and. copies == 1, 'a copied attribute')
  call MPI_Comm_free(comm, e)
  call check(deletes == 1, 'a deleted attribute')
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, e)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, -9_MPI_ADDRESS_KIND, e)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, e)
  call MPI_Comm_get_attr(comm, keyval, value, flag, e)
  call check(flag .and. value == -9, 'MPI_COMM_DUP_FN')
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, e)
  call check(flag .and. value >= 32767, 'MPI_TAG_UB')
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, flag, e)
  call check(.not. flag .or. value >= 1, 'MPI_UNIVERSE_SIZE')
  call MPI_Comm_create_errhandler(failed, errhandler, e)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler, e)
  call MPI_Send(a, 1, MPI_INTEGER, size + 5, 0, MPI_COMM_WORLD, e)
  call check(errors == 1 .and. e /= MPI_SUCCESS, 'an error handler of the program')
  call MPI_Error_class(e, i, e)
  call check(i == MPI_ERR_RANK, 'class of an error')
  call MPI_Error_string(MPI_ERR_RANK, text, length, e)
  call check(length > 0 .and. text(length + 1:) == ' ', 'text of an error')
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, e)

  ! Strings, which are padded with blanks.
  call MPI_Comm_set_name(comm, 'a name   ', e)
  call MPI_Comm_get_name(comm, name, length, e)
  call check(length == 6 .and. name == 'a name', 'name')
  call MPI_Info_create(info, e)
  call MPI_Info_set(info, ' key ', ' value ', e)
  call MPI_Info_get(info, 'key', len(short), short, flag, e)
  call check(flag .and. short == 'value', 'info')
  call MPI_Info_get_valuelen(info, 'other', length, flag, e)
  call check(.not. flag, 'no info')
  call MPI_Info_free(info, e)

  ! Truth values in arrays.
  dims = 0
  call MPI_Dims_create(size, 2, dims, e)
  call MPI_Cart_create(comm, 2, dims, [.true., .false.], .false., line, e)
  call MPI_Cart_get(line, 2, dims, periods, coords, e)
  call check(periods(1) .and. .not. periods(2), 'periods')
  remain = [.false., .true.]
  call MPI_Comm_free(comm, e)
  call MPI_Cart_sub(line, remain, comm, e)
  call MPI_Comm_size(comm, i, e)
  call check(i == dims(2), 'a part of a grid')
  call MPI_Comm_free(comm, e)
  call MPI_Comm_free(line, e)
  sources = left
  degrees = 1
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., comm, e)
  call MPI_Dist_graph_neighbors_count(comm, i, count, flag, e)
  call check(i == 1 .and. count == 1 .and. .not. flag, 'a graph without weights')
  call MPI_Comm_free(comm, e)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, sources, MPI_WEIGHTS_EMPTY, &
                                      MPI_INFO_NULL, .false., comm, e)
  call MPI_Dist_graph_neighbors_count(comm, i, count, flag, e)
  call check(i == 0 .and. count == 0 .and. flag, 'an empty graph with weights')
  call MPI_Comm_free(comm, e)

  call MPI_Comm_group(MPI_COMM_WORLD, group, e)
  call MPI_Group_translate_ranks(group, 2, [0, MPI_PROC_NULL], group, indices, e)
  call check(indices(1) == 0 .and. indices(2) == MPI_PROC_NULL, 'translated ranks')
  call MPI_Group_free(group, e)
  call MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, comm, e)
  call check(comm == MPI_COMM_NULL, 'no communicator')

  ! Windows and files.
  window = rank
  call MPI_Win_create(window, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, e)
  call check(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, e)
  call check(flag .and. value == 16, 'MPI_WIN_SIZE')
  call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, e)
  call MPI_Put([rank, rank], 2, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, e)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, e)
  call check(all(window == [rank, left, left, rank]), 'a put')
  call MPI_Win_free(win, e)
  call MPI_File_open(MPI_COMM_WORLD, filename, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                     MPI_INFO_NULL, file, e)
  call check(e == MPI_SUCCESS, 'a file')
  offset = rank * 8
  call MPI_File_write_at_all(file, offset, [rank, -rank], 2, MPI_INTEGER, status, e)
  call MPI_Get_count(status, MPI_INTEGER, count, e)
  call check(count == 2, 'elements that were written')
  offset = 4
  call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, e)
  offset = 2 * left
  call MPI_File_read_at_all(file, offset, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, e)
  call check(b(1) == -left, 'a read')
  call MPI_File_close(file, e)
  call check(file == MPI_FILE_NULL, 'a closed file')
#if defined(F08) || defined(F90)
  call MPI_Sizeof(t, i, e)
  call check(i == 8, 'MPI_SIZEOF')
#endif
#ifdef SECTIONS
  call sections
#endif
#if !defined(F08) && !defined(F90)
  call removed
#endif
  call MPI_Finalize(e)
  if (rank == 0) print '(a)', 'good'

contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    integer :: code
    if (condition) return
    print '(2a)', 'not so: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine

#ifdef SECTIONS
  subroutine sections
    integer, asynchronous :: matrix(6, 4), got(3, 2)
    integer :: k
    matrix = reshape([(k, k = 1, 24)], [6, 4])
    got = 0
    call MPI_Irecv(got, 6, MPI_INTEGER, left, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Send(matrix(2:6:2, 1:4:3), 6, MPI_INTEGER, right, 0, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(got == matrix(2:6:2, 1:4:3)), 'a section that is sent')
    matrix = 0
    call MPI_Irecv(matrix(1:5:2, 2:3), 6, MPI_INTEGER, left, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Send(got, 6, MPI_INTEGER, right, 0, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(matrix(1:5:2, 2:3) == got) .and. sum(merge(1, 0, matrix == 0)) == 18, 'a section that is received')
    call MPI_Allreduce(MPI_IN_PLACE, matrix(1:5:2, 3:2:-1), 6, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call check(all(matrix(1:5:2, 2:3) == got), 'a section that is reduced')
  end subroutine
#endif

#if !defined(F08) && !defined(F90)
  ! What MPI-3 removed.
  subroutine removed
    integer :: places(2), types(2), made, handler, ext
    external :: MPI_Address, MPI_Type_struct, MPI_Type_extent, MPI_Errhandler_get, MPI_Errhandler_set
    types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
    places = [0, 8]
    call MPI_Type_struct(2, [1, 1], places, types, made, e)
    call MPI_Type_commit(made, e)
    call MPI_Type_extent(made, ext, e)
    call check(ext == 16, 'MPI_TYPE_EXTENT')
    call MPI_Type_free(made, e)
    call MPI_Errhandler_get(MPI_COMM_WORLD, handler, e)
    call check(handler == MPI_ERRORS_ARE_FATAL, 'MPI_ERRHANDLER_GET')
    call MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
    call MPI_Address(places(2), ext, e)
    call MPI_Address(places(1), i, e)
    call check(ext - i == 4, 'MPI_ADDRESS')
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, i, flag, e)
    call check(flag .and. i >= 32767, 'MPI_ATTR_GET')
  end subroutine
#endif
end program
