! SPDX-License-Identifier: BSD-3-Clause
! Random sections of arrays: scalars and 1 to 7 dimensions, strides of both signs, empty ones; of integers, numbers,
! characters and a derived type; in arrays of explicit and assumed shape, allocatable arrays and pointers. They are sent,
! received, broadcast, reduced and put, blocking and not, and compared word by word with a naive walk through the array.
! MUR_TEST_SEED repeats a run.
#define RANGE(i) lo(i):hi(i):st(i)
#define WHOLE_SHAPE (side, side, side, side, side, side, side)
#define ANY_SHAPE (:, :, :, :, :, :, :)
module common_parts
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(C) :: particle
    real(c_double) :: place(3)
    integer(c_int) :: id, mark
  end type
  integer, parameter :: side = 3, most = side**7
  ! Which dimensions of the whole array a section of 0 to 7 dimensions goes along; it has one index in the others.
  logical, parameter :: goes_along(7, 0:7) = reshape([ &
    .false., .false., .false., .false., .false., .false., .false., &
    .false., .false., .true., .false., .false., .false., .false., &
    .true., .false., .false., .true., .false., .false., .false., &
    .false., .true., .true., .false., .false., .true., .false., &
    .true., .true., .false., .false., .true., .false., .true., &
    .true., .false., .true., .true., .true., .true., .false., &
    .true., .false., .true., .true., .true., .true., .true., &
    .true., .true., .true., .true., .true., .true., .true.], [7, 8])
  integer :: rank, ranks, round, dims, lo(7), hi(7), st(7), elements, width ! words of an element
  integer, pointer, contiguous :: words(:) ! the whole array
  integer, asynchronous :: packed(8 * most), got(8 * most), before(8 * most)
  integer, asynchronous :: window(8 * most)
  type(MPI_Win) :: win
  type(MPI_Op) :: op
  integer, external :: draw
contains
  ! Bit by bit, so that MPI may reduce any number of elements at a time.
  subroutine exclusive_or(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer(1), pointer :: a(:), b(:)
    integer :: bytes
    call MPI_Type_size(datatype, bytes)
    call c_f_pointer(invec, a, [len * bytes])
    call c_f_pointer(inoutvec, b, [len * bytes])
    b = ieor(a, b)
  end subroutine

  ! The same section on all ranks. One in eight may be empty.
  subroutine choose()
    integer :: i
    dims = draw(8)
    elements = 1
    do i = 1, 7
      lo(i) = 1 + draw(side)
      hi(i) = lo(i)
      st(i) = 1
      if (.not. goes_along(i, dims)) cycle
      hi(i) = 1 + draw(side)
      st(i) = 1 + draw(2)
      if (draw(2) == 0) st(i) = -st(i)
      if ((hi(i) - lo(i)) * st(i) < 0 .and. draw(8) > 0) st(i) = -st(i)
      elements = elements * max(0, (hi(i) - lo(i) + st(i)) / st(i))
    end do
  end subroutine

  subroutine fail(what)
    character(len=*), intent(in) :: what
    print '(2a,2(i0,a),21i3)', what, ': wrong data in round ', round, ', words of an element ', width, ', section ', lo, hi, st
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine fill(of)
    integer, intent(in) :: of
    integer :: i
    words = [(of * 100000 + i, i = 1, size(words))]
    before(:size(words)) = words
  end subroutine

  ! Copies the section to a line, or a line to where the section is in `before`.
  subroutine walk(line, is_back)
    integer, intent(inout) :: line(:)
    logical, intent(in) :: is_back
    integer :: at(7), element, place, i
    at = lo
    do element = 0, elements - 1
      place = 0
      do i = 7, 1, -1
        place = place * side + at(i) - 1
      end do
      do i = 1, width
        if (is_back) then
          before(place * width + i) = line(element * width + i)
        else
          line(element * width + i) = words(place * width + i)
        end if
      end do
      do i = 1, 7
        at(i) = at(i) + st(i)
        if ((hi(i) - at(i)) * st(i) >= 0) exit
        at(i) = lo(i)
      end do
    end do
  end subroutine

  ! The section has what is in packed, and everything else is what it was.
  subroutine compare(what)
    character(len=*), intent(in) :: what
    call walk(packed, .true.)
    if (any(words /= before(:size(words)))) call fail(what)
  end subroutine

  subroutine exchange(section, n, datatype)
    type(*), asynchronous :: section(..)
    integer, intent(in) :: n
    type(MPI_Datatype), intent(in) :: datatype
    call send_sections(section, n, datatype)
    call receive_sections(section, n, datatype)
    call collect_sections(section, n, datatype)
    call put_sections(section, n, datatype)
  end subroutine

  ! Rank 0 sends its section, rank 1 compares.
  subroutine send_sections(section, n, datatype)
    type(*), asynchronous :: section(..)
    integer, intent(in) :: n
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Request) :: request
    integer :: i, length
    length = elements * width
    call fill(0)
    call walk(packed, .false.)
    if (rank == 0) then
      call MPI_Send(section, n, datatype, 1, 1, MPI_COMM_WORLD)
      call MPI_Issend(section, int(n, MPI_COUNT_KIND), datatype, 1, 2, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    else if (rank == 1) then
      do i = 1, 2
        call MPI_Recv(got, length * 4, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        if (any(got(:length) /= packed(:length))) call fail('send')
      end do
    end if
  end subroutine

  ! Rank 0 receives into its section, and looks at it and at what is around it.
  subroutine receive_sections(section, n, datatype)
    type(*), asynchronous :: section(..)
    integer, intent(in) :: n
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Request) :: request
    integer :: i, length
    length = elements * width
    packed(:length) = [(-i, i = 1, length)]
    call fill(rank)
    if (rank == 1) then
      call MPI_Send(packed, length * 4, MPI_BYTE, 0, 3, MPI_COMM_WORLD)
      call MPI_Send(packed, length * 4, MPI_BYTE, 0, 4, MPI_COMM_WORLD)
    else if (rank == 0) then
      call MPI_Recv(section, n, datatype, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call compare('receive')
      call fill(rank)
      call MPI_Irecv(section, n, datatype, 1, 4, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call compare('nonblocking receive')
    end if
  end subroutine

  subroutine collect_sections(section, n, datatype)
    type(*), asynchronous :: section(..)
    integer, intent(in) :: n
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Request) :: request
    integer :: root, length, i
    root = draw(ranks)
    length = elements * width
    call fill(root)
    call walk(packed, .false.)
    call fill(rank)
    call MPI_Bcast(section, n, datatype, root, MPI_COMM_WORLD)
    call compare('broadcast')
    call fill(rank)
    call MPI_Ibcast(section, n, datatype, root, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call compare('nonblocking broadcast')
    packed(:length) = 0
    do i = 0, ranks - 1
      call fill(i)
      call walk(got, .false.)
      packed(:length) = ieor(packed(:length), got(:length))
    end do
    call fill(rank)
    call MPI_Allreduce(MPI_IN_PLACE, section, n, datatype, op, MPI_COMM_WORLD)
    call compare('reduction')
    call fill(rank)
    call MPI_Iallreduce(MPI_IN_PLACE, section, n, datatype, op, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call compare('nonblocking reduction')
    call fill(rank)
    call MPI_Reduce(section, got, n, datatype, op, root, MPI_COMM_WORLD)
    if (rank == root .and. any(got(:length) /= packed(:length))) call fail('reduction of a section')
  end subroutine

  ! Each rank puts its section to the next one, and gets it back.
  subroutine put_sections(section, n, datatype)
    type(*), asynchronous :: section(..)
    integer, intent(in) :: n
    type(MPI_Datatype), intent(in) :: datatype
    integer :: next, length
    next = modulo(rank + 1, ranks)
    length = elements * width
    call fill(modulo(rank - 1, ranks))
    call walk(packed, .false.)
    call fill(rank)
    call MPI_Win_fence(0, win)
    call MPI_Put(section, n, datatype, next, 0_MPI_ADDRESS_KIND, length, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    if (any(window(:length) /= packed(:length))) call fail('put')
    call fill(-1)
    call MPI_Get(section, n, datatype, rank, 0_MPI_ADDRESS_KIND, length, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call compare('get')
  end subroutine
end module

program sections
  use common_parts
  implicit none
  integer, parameter :: rounds = 1000
  integer, target, asynchronous :: plain WHOLE_SHAPE
  type(MPI_Datatype) :: of_particle
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call random_start()
  call MPI_Op_create(exclusive_or, .true., op)
  call MPI_Type_create_struct(2, [3, 2], [0_MPI_ADDRESS_KIND, 24_MPI_ADDRESS_KIND], [MPI_DOUBLE_PRECISION, MPI_INTEGER], &
                              of_particle)
  call MPI_Type_commit(of_particle)
  call MPI_Win_create(window, int(storage_size(window) / 8 * size(window), MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, &
                      MPI_COMM_WORLD, win)
  do round = 1, rounds
    call choose()
    select case (draw(7))
    case (0)
      call integers(1, MPI_INTEGER)
    case (1)
      call numbers(1, MPI_DOUBLE_PRECISION)
    case (2)
      call pairs(2, MPI_DOUBLE_PRECISION)
    case (3)
      call particles(1, of_particle)
    case (4)
      call texts(4, MPI_CHARACTER)
    case (5)
      call pointers(1, MPI_INTEGER)
    case (6)
      call shapes(plain)
    end select
  end do
  call MPI_Win_free(win)
  call MPI_Op_free(op)
  call MPI_Type_free(of_particle)
  call MPI_Finalize()
contains
#define NAME integers
#define DECLARATION integer, target, asynchronous :: whole WHOLE_SHAPE
#define ALLOCATION
#include "sections_of.inc"
#define NAME numbers
#define DECLARATION real(c_double), allocatable, target, asynchronous :: whole ANY_SHAPE
#define ALLOCATION allocate (whole WHOLE_SHAPE)
#include "sections_of.inc"
#define NAME pairs
#define DECLARATION complex(c_double), allocatable, target, asynchronous :: whole ANY_SHAPE
#define ALLOCATION allocate (whole WHOLE_SHAPE)
#include "sections_of.inc"
#define NAME particles
#define DECLARATION type(particle), target, asynchronous :: whole WHOLE_SHAPE
#define ALLOCATION
#include "sections_of.inc"
#define NAME texts
#define DECLARATION character(len=4), target, asynchronous :: whole WHOLE_SHAPE
#define ALLOCATION
#include "sections_of.inc"
#define NAME pointers
#define DECLARATION integer, asynchronous, pointer, contiguous :: whole ANY_SHAPE
#define ALLOCATION allocate (whole WHOLE_SHAPE)
#define IS_POINTER
#include "sections_of.inc"

  ! As a dummy argument of assumed shape.
  subroutine shapes(array)
    integer, target, asynchronous :: array ANY_SHAPE
    width = 1
    call c_f_pointer(c_loc(array), words, [most])
    select case (dims)
    case (0:3)
      dims = 7
      call exchange(array(RANGE(1), RANGE(2), RANGE(3), RANGE(4), &
                          RANGE(5), RANGE(6), RANGE(7)), elements, MPI_INTEGER)
    case default
      call plane(array(:, :, lo(3), lo(4), lo(5), lo(6), lo(7)))
    end select
  end subroutine

  subroutine plane(array)
    integer, asynchronous :: array(:, :)
    hi(3:7) = lo(3:7)
    st(3:7) = 1
    elements = size(array(RANGE(1), RANGE(2)))
    call exchange(array(RANGE(1), RANGE(2)), elements, MPI_INTEGER)
  end subroutine
end program
