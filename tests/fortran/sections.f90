! SPDX-License-Identifier: BSD-3-Clause
! Random sections of arrays of 1 to 5 dimensions, with strides of both signs and empty ones, sent, received, broadcast and
! reduced, blocking and not, and compared with arrays into which they were copied element by element. MUR_TEST_SEED repeats
! a run.
program sections
  use mpi_f08
  implicit none
  integer, parameter :: rounds = 300, side = 7
  integer :: rank, ranks, round, lo(5), hi(5), st(5), dims, seed, length
  integer :: whole(side, side, side, side, side), before(side, side, side, side, side)
  integer, allocatable :: packed(:), got(:)
  character(len=32) :: text

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_environment_variable('MUR_TEST_SEED', text, length)
  if (length > 0) then
    read (text, *) seed
  else
    call system_clock(seed)
  end if
  call MPI_Bcast(seed, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0)', 'seed ', seed
  do round = 1, rounds
    call choose(round)
    select case (dims)
    case (1)
      call exchange(whole(lo(1):hi(1):st(1), 1, 1, 1, 1))
    case (2)
      call exchange(whole(lo(1):hi(1):st(1), lo(2):hi(2):st(2), 1, 1, 1))
    case (3)
      call exchange(whole(lo(1):hi(1):st(1), 2, lo(2):hi(2):st(2), lo(3):hi(3):st(3), 1))
    case (4)
      call exchange(whole(3, lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3), lo(4):hi(4):st(4)))
    case (5)
      call exchange(whole(lo(1):hi(1):st(1), lo(2):hi(2):st(2), lo(3):hi(3):st(3), lo(4):hi(4):st(4), &
                          lo(5):hi(5):st(5)))
    end select
  end do
  call MPI_Finalize()
contains
  integer function draw(below)
    integer, intent(in) :: below
    seed = ieor(seed, ishft(seed, 13))
    seed = ieor(seed, ishft(seed, -17))
    seed = ieor(seed, ishft(seed, 5))
    draw = modulo(seed, below)
  end function

  ! The same section on all ranks.
  subroutine choose(number)
    integer, intent(in) :: number
    integer :: i
    if (seed == 0) seed = number
    dims = 1 + draw(5)
    do i = 1, 5
      lo(i) = 1 + draw(side)
      hi(i) = 1 + draw(side)
      st(i) = 1 + draw(3)
      if (draw(2) == 0) st(i) = -st(i)
      ! One in eight may be empty.
      if ((hi(i) - lo(i)) * st(i) < 0 .and. draw(8) > 0) st(i) = -st(i)
    end do
  end subroutine

  subroutine fail(what)
    character(len=*), intent(in) :: what
    print '(3a,i0,a,15i3)', what, ': wrong data', ', round ', round, ', section ', lo(:dims), hi(:dims), st(:dims)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine fill(of)
    integer, intent(in) :: of
    integer :: i
    whole = reshape([(of * 100000 + i, i = 1, size(whole))], shape(whole))
    before = whole
  end subroutine

  subroutine exchange(section)
    integer, asynchronous :: section(..)
    integer :: n
    n = size(section)
    if (allocated(packed)) deallocate (packed, got)
    allocate (packed(n), got(n))
    call send_sections(section, n)
    call receive_sections(section, n)
    call collect_sections(section, n)
  end subroutine

  ! Rank 0 sends its section, rank 1 compares.
  subroutine send_sections(section, n)
    integer, asynchronous :: section(..)
    integer, intent(in) :: n
    type(MPI_Request) :: request
    integer :: i
    call fill(rank)
    if (rank == 0) then
      call pack_section(packed)
      call MPI_Send(packed, n, MPI_INTEGER, 1, 1, MPI_COMM_WORLD)
      call MPI_Send(section, n, MPI_INTEGER, 1, 2, MPI_COMM_WORLD)
      call MPI_Issend(section, int(n, MPI_COUNT_KIND), MPI_INTEGER, 1, 3, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    else if (rank == 1) then
      call MPI_Recv(packed, n, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      do i = 2, 3
        call MPI_Recv(got, n, MPI_INTEGER, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        if (any(got /= packed)) call fail('send')
      end do
    end if
  end subroutine

  ! Rank 0 receives into its section, and looks at it and at what is around it.
  subroutine receive_sections(section, n)
    integer, asynchronous :: section(..)
    integer, intent(in) :: n
    type(MPI_Request) :: request
    integer :: i
    packed = [(-i, i = 1, n)]
    if (rank == 1) then
      call MPI_Send(packed, n, MPI_INTEGER, 0, 4, MPI_COMM_WORLD)
      call MPI_Send(packed, n, MPI_INTEGER, 0, 5, MPI_COMM_WORLD)
    else if (rank == 0) then
      call MPI_Recv(section, n, MPI_INTEGER, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call compare('receive')
      call fill(rank)
      call MPI_Irecv(section, n, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call compare('nonblocking receive')
    end if
  end subroutine

  subroutine collect_sections(section, n)
    integer, asynchronous :: section(..)
    integer, intent(in) :: n
    type(MPI_Request) :: request
    call fill(0)
    call pack_section(packed)
    packed = packed * ranks
    call MPI_Allreduce(MPI_IN_PLACE, section, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call compare('reduction')
    call fill(0)
    call MPI_Iallreduce(MPI_IN_PLACE, section, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call compare('nonblocking reduction')
    call fill(rank)
    packed = packed / ranks
    call MPI_Bcast(section, n, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call compare('broadcast')
  end subroutine

  ! Element by element, by the definition of a section.
  subroutine pack_section(into)
    integer, intent(out) :: into(:)
    call walk(into, .false.)
  end subroutine

  ! The section has what is in packed, and everything else is what it was.
  subroutine compare(what)
    character(len=*), intent(in) :: what
    call walk(packed, .true.)
    if (any(whole /= before)) call fail(what)
  end subroutine

  ! Copies the section of whole to line, or puts line into the section of before.
  subroutine walk(line, is_back)
    integer, intent(inout) :: line(:)
    logical, intent(in) :: is_back
    integer :: a, b, c, d, e, n, lows(5), highs(5), steps(5)
    lows = 1
    highs = 1
    steps = 1
    lows(:dims) = lo(:dims)
    highs(:dims) = hi(:dims)
    steps(:dims) = st(:dims)
    n = 0
    do e = lows(5), highs(5), steps(5)
      do d = lows(4), highs(4), steps(4)
        do c = lows(3), highs(3), steps(3)
          do b = lows(2), highs(2), steps(2)
            do a = lows(1), highs(1), steps(1)
              n = n + 1
              call one(line(n), is_back, [a, b, c, d, e])
            end do
          end do
        end do
      end do
    end do
  end subroutine

  subroutine one(element, is_back, at)
    integer, intent(inout) :: element
    logical, intent(in) :: is_back
    integer, intent(in) :: at(5)
    integer :: place(5)
    select case (dims)
    case (1, 2)
      place = [at(1), at(2), 1, 1, 1]
    case (3)
      place = [at(1), 2, at(2), at(3), 1]
    case (4)
      place = [3, at(1), at(2), at(3), at(4)]
    case default
      place = at
    end select
    if (is_back) then
      before(place(1), place(2), place(3), place(4), place(5)) = element
    else
      element = whole(place(1), place(2), place(3), place(4), place(5))
    end if
  end subroutine
end program
