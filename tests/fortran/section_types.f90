! SPDX-License-Identifier: BSD-3-Clause
! Sections in calls that return before they are done and have no request (one-sided access, split collective file access),
! and in partitioned communication; parts of sections that are no whole rows; datatypes with gaps, in reverse order, larger
! than the elements of the array, over their borders, and of several kinds. Random ones, too, against MPI_Pack of a
! contiguous copy. MUR_TEST_SEED repeats a run.
program section_types
  use mpi_f08
  implicit none
  integer, parameter :: A = MPI_ADDRESS_KIND
  integer :: rank, ranks, partner, round
  integer, external :: draw
  external :: check
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  partner = ieor(rank, 1)
  call random_start()
  call accumulate()
  call get_and_put()
  call split_collectives()
  call partitions()
  call two_at_once()
  do round = 1, 200
    call random_datatype()
  end do
  call MPI_Finalize()
contains
  ! The first part of a section that is no whole number of rows, and elements apart, are added to a window.
  subroutine accumulate()
    integer, asynchronous :: window(12), plate(6, 6), got(6, 6)
    type(MPI_Win) :: win
    type(MPI_Datatype) :: gaps
    integer :: i
    plate = reshape([(i, i = 1, 36)], [6, 6])
    window = 100
    got = -1
    call MPI_Win_create(window, 48_A, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_Accumulate(plate(::2, ::3), 5, MPI_INTEGER, partner, 0_A, 5, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call check(all(window(:5) == 100 + [1, 3, 5, 19, 21]) .and. all(window(6:) == 100), 'a part of a section')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, gaps)
    call MPI_Type_commit(gaps)
    call MPI_Accumulate(plate(6:1:-1, 2), 1, gaps, partner, 8_A, 2, MPI_INTEGER, MPI_PROD, win)
    call MPI_Win_fence(0, win)
    call check(all(window(9:10) == 100 * [12, 10]), 'a datatype with gaps over a section')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Get_accumulate(plate(2, ::2), 3, MPI_INTEGER, got(::2, 3), 3, MPI_INTEGER, partner, 0_A, 3, MPI_INTEGER, &
                            MPI_REPLACE, win)
    call MPI_Win_fence(0, win)
    call check(all(window(:3) == [2, 14, 26]) .and. all(got(::2, 3) == [101, 103, 105]) .and. count(got /= -1) == 3, &
               'a section for both ways')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Get_accumulate(plate(2, ::2), 0, MPI_DATATYPE_NULL, got(1, ::2), 3, MPI_INTEGER, partner, 0_A, 3, &
                            MPI_INTEGER, MPI_NO_OP, win)
    call MPI_Win_fence(0, win)
    call check(all(got(1, ::2) == [2, 14, 26]), 'nothing is sent, and a section comes')
    call MPI_Type_free(gaps)
    call MPI_Win_free(win)
  end subroutine

  subroutine get_and_put()
    integer, asynchronous :: window(12), line(24)
    type(MPI_Win) :: win
    type(MPI_Datatype) :: pair
    integer :: i
    window = 0
    line = [(i, i = 1, 24)]
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    call MPI_Win_create(window, 48_A, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_Put(line(1::3), 3, pair, partner, 0_A, 6, MPI_INTEGER, win)
    call MPI_Put(line(24:1:-5), 0, pair, partner, 0_A, 0, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(window(:6) == [1, 4, 7, 10, 13, 16]), 'elements larger than those of the array')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Get(line(20:2:-3), 3, pair, partner, 0_A, 6, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(line(20:5:-3) == [1, 4, 7, 10, 13, 16]) .and. line(2) == 2, 'and back')
    call MPI_Win_free(win)
    call MPI_Type_free(pair)
  end subroutine

  subroutine split_collectives()
    integer, asynchronous :: plate(4, 6), got(12)
    type(MPI_Datatype) :: gaps
    type(MPI_File) :: file
    integer :: i
    character(len=40) :: name
    plate = reshape([(i, i = 1, 24)], [4, 6])
    got = 0
    write (name, '(a,i0)') 'fortran-section-types-', rank
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, gaps)
    call MPI_Type_commit(gaps)
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_File_write_all_begin(file, plate(4, :), 1, gaps)
    call MPI_File_write_all_end(file, plate(4, :), MPI_STATUS_IGNORE)
    call MPI_File_read_at_all_begin(file, 0_MPI_OFFSET_KIND, got(11:1:-2), 3, MPI_INTEGER)
    call MPI_File_read_at_all_end(file, got(11:1:-2), MPI_STATUS_IGNORE)
    call check(all(got(11:7:-2) == [4, 12, 20]) .and. count(got /= 0) == 3, 'split collective access')
    call MPI_File_close(file)
    call MPI_Type_free(gaps)
  end subroutine

  ! A partition is sent as it is when it is ready, and is there when it has arrived: the receiver may change it then.
  subroutine partitions()
    integer, asynchronous :: out(5, 6), in(4, 9)
    type(MPI_Request) :: requests(2)
    logical :: flag
    integer :: turn, i
    call MPI_Precv_init(in(::2, ::2), 3, 3_MPI_COUNT_KIND, MPI_INTEGER, partner, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &
                        requests(1))
    call MPI_Psend_init(out(5:1:-2, 1::2), 3, 3_MPI_COUNT_KIND, MPI_INTEGER, partner, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &
                        requests(2))
    do turn = 1, 3
      out = -1
      in = -turn
      call MPI_Startall(2, requests)
      do i = 1, 3
        out(5:1:-2, 2 * i - 1) = 100 * turn + 10 * i + [1, 2, 3]
        if (i == 1) call MPI_Pready(0, requests(2))
        if (i == 2) call MPI_Pready_range(1, 1, requests(2))
        if (i == 3) call MPI_Pready_list(1, [2], requests(2))
      end do
      flag = .false.
      do while (.not. flag)
        call MPI_Parrived(requests(1), 0, flag)
      end do
      call check(all(in(::2, 1) == 100 * turn + [11, 12]) .and. in(1, 3) == 100 * turn + 13, 'a partition has arrived')
      in(1, 1) = 0
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call check(in(1, 1) == 0, 'a partition that has arrived stays as it is')
      in(1, 1) = 100 * turn + 11
      call check(all(reshape(in(::2, ::2), [10]) == [100 * turn + 11, 100 * turn + 12, 100 * turn + 13, &
                 100 * turn + 21, 100 * turn + 22, 100 * turn + 23, 100 * turn + 31, 100 * turn + 32, 100 * turn + 33, &
                 -turn]) .and. all(in(2::2, :) == -turn) .and. all(in(:, 2::2) == -turn), 'all partitions')
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  ! Requests that are complete at once may be one and the same to MPI; each has its own section.
  subroutine two_at_once()
    integer, asynchronous :: first(8), second(8)
    type(MPI_Request) :: requests(2)
    first = -1
    second = -1
    call MPI_Iallreduce([1, 2, 3, 4], first(::2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, requests(1))
    call MPI_Iallreduce([5, 6, 7, 8], second(::2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, requests(2))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(first(::2) == [1, 2, 3, 4]), 'the first of two at once')
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
    call check(all(second(::2) == [5, 6, 7, 8]), 'the second of two at once')
  end subroutine

  ! A datatype of random blocks of random kinds, over a random section: what is sent is what MPI_Pack makes of the same
  ! numbers side by side, and what is received is what MPI_Unpack makes.
  subroutine random_datatype()
    integer, parameter :: side = 9
    integer(1), asynchronous :: plate(side, side, side), got(side, side, side)
    integer(1), allocatable, asynchronous :: flat(:), packed(:), expected(:)
    type(MPI_Datatype) :: datatype
    type(MPI_Request) :: request
    integer :: lo(3), hi(3), st(3), i, elements, bytes, position
    integer(A) :: lower, extent, true_extent
    call draw_datatype(datatype)
    call MPI_Type_get_extent(datatype, lower, extent)
    call MPI_Type_get_true_extent(datatype, lower, true_extent)
    do i = 1, 3
      lo(i) = 1 + draw(3)
      hi(i) = side - draw(3)
      st(i) = 1 + draw(2)
    end do
    if (draw(2) == 0) call turn_around(lo(2), hi(2), st(2))
    elements = 1 + draw(2)
    plate = reshape([(int(modulo(i * 7 + rank, 127), 1), i = 1, size(plate))], shape(plate))
    got = plate
    ! Allocated first: gfortran 12 does not set the strides of an array that is allocated by `flat = reshape(...)`.
    allocate (flat(size(plate(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3)))))
    flat = reshape(plate(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3)), shape(flat))
    if (extent * (elements - 1) + lower + true_extent > size(flat)) then
      call MPI_Type_free(datatype)
      return
    end if
    call MPI_Type_size(datatype, bytes)
    allocate (packed(bytes * elements), expected(bytes * elements))
    position = 0
    call MPI_Pack(flat, elements, datatype, expected, bytes * elements, position, MPI_COMM_SELF)
    call MPI_Irecv(packed, bytes * elements, MPI_BYTE, rank, 0, MPI_COMM_WORLD, request)
    call MPI_Send(plate(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3)), elements, datatype, rank, 0, &
                  MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(packed == expected), 'what was sent')
    packed = -packed - 1_1
    position = 0
    call MPI_Unpack(packed, bytes * elements, position, flat, elements, datatype, MPI_COMM_SELF)
    call MPI_Irecv(got(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3)), elements, datatype, rank, 0, &
                   MPI_COMM_WORLD, request)
    call MPI_Send(packed, bytes * elements, MPI_BYTE, rank, 0, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    plate(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3)) = &
      reshape(flat, shape(plate(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3))))
    call check(all(got == plate), 'what was received')
    call MPI_Type_free(datatype)
  end subroutine

  subroutine turn_around(lo, hi, st)
    integer, intent(inout) :: lo, hi, st
    integer :: held
    held = lo
    lo = hi
    hi = held
    st = -st
  end subroutine

  ! Up to three blocks of bytes, pairs of bytes or integers, in any order, not overlapping; perhaps with another extent.
  subroutine draw_datatype(datatype)
    type(MPI_Datatype), intent(out) :: datatype
    type(MPI_Datatype) :: types(3), whole
    integer :: lengths(3), i, blocks, order(3)
    integer(A) :: places(3), at
    blocks = 1 + draw(3)
    order = [1, 2, 3]
    if (draw(2) == 0 .and. blocks > 1) order(1:2) = [2, 1]
    at = draw(4)
    do i = 1, blocks
      select case (draw(3))
      case (0)
        types(order(i)) = MPI_INTEGER1
      case (1)
        types(order(i)) = MPI_INTEGER2
      case default
        types(order(i)) = MPI_INTEGER
      end select
      lengths(order(i)) = 1 + draw(3)
      places(order(i)) = at
      at = at + 12 + draw(3)
    end do
    call MPI_Type_create_struct(blocks, lengths, places, types, whole)
    call MPI_Type_create_resized(whole, 0_A, at + draw(3), datatype)
    call MPI_Type_free(whole)
    call MPI_Type_commit(datatype)
  end subroutine
end program
