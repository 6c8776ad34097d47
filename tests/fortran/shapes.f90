! SPDX-License-Identifier: BSD-3-Clause
! Buffers of all shapes in calls of all kinds: seven dimensions, assumed shape and size, allocatable, pointer, components of
! derived types, characters, scalars; datatypes beside sections; blocks, persistent reductions, one-sided access, files,
! partial counts.
program shapes
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(C) :: particle
    real(c_double) :: place(3)
    integer(c_int) :: id
  end type
  external :: check
  integer :: rank, ranks, partner, provided
  integer, allocatable :: made(:, :) ! a variable of the program, whose descriptor is zero at first
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  partner = ieor(rank, 1)
  call seven_dimensions()
  call components()
  call kinds_of_arrays()
  call datatypes_beside()
  call datatype_lists()
  call blocks()
  call persistent()
  call one_sided()
  call files()
  call sessions()
  call MPI_Finalize()
contains
  subroutine seven_dimensions()
    integer :: a(3, 3, 3, 3, 3, 3, 3), b(3, 3, 3, 3, 3, 3, 3), i
    a = reshape([(i + 10000 * rank, i = 1, size(a))], shape(a))
    b = -1
    call MPI_Sendrecv(a(::2, 3:1:-2, ::2, ::2, 1, ::2, ::2), 64, MPI_INTEGER, partner, 0, &
                      b(2:1:-1, :2, 2:, 2:, 2, 2:, 1::2), 64, MPI_INTEGER, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(b(2:1:-1, :2, 2:, 2:, 2, 2:, 1::2) + 10000 * (rank - partner) == &
                   a(::2, 3:1:-2, ::2, ::2, 1, ::2, ::2)), 'seven dimensions')
    call check(count(b == -1) == size(b) - 64, 'nothing else is written')
  end subroutine

  subroutine components()
    type(particle) :: mine(6), theirs(6)
    integer :: i
    do i = 1, 6
      mine(i) = particle([real(8) :: i, rank, 0], 100 * rank + i)
      theirs(i) = particle([real(8) :: 0, 0, 0], 0)
    end do
    call MPI_Sendrecv(mine(:)%id, 6, MPI_INTEGER, partner, 1, theirs(6:1:-1)%id, 6, MPI_INTEGER, partner, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(theirs(6:1:-1)%id == [(100 * partner + i, i = 1, 6)]), 'a component of all elements')
    call MPI_Sendrecv(mine(::2), 3 * int(c_sizeof(mine(1))), MPI_BYTE, partner, 2, theirs(2::2), &
                      3 * int(c_sizeof(mine(1))), MPI_BYTE, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(theirs(2::2)%place(1) == [1d0, 3d0, 5d0]) .and. all(theirs(2::2)%place(2) == partner), &
               'elements of a derived type as bytes')
  end subroutine

  subroutine kinds_of_arrays()
    real, allocatable :: grown(:, :)
    real, pointer :: view(:)
    real, target :: base(40)
    character(len=4) :: words(6), got(3)
    complex(8) :: pairs(8), one
    integer :: i, nothing(0)
    allocate (grown(5, 8))
    base = [(real(i), i = 1, 40)]
    grown = -1
    view => base(40:2:-2)
    call MPI_Sendrecv(view(:12), 12, MPI_REAL, partner, 0, grown(::2, ::2), 12, MPI_REAL, partner, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call check(all(reshape(grown(::2, ::2), [12]) == [(real(40 - 2 * i), i = 0, 11)]), 'a pointer and an allocatable array')
    call assumed(base, view)
    made = reshape([rank, 1, 2, 3, 4, 5], [2, 3]) ! gfortran 12 does not set the strides
    call MPI_Bcast(made, 6, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(reshape(made, [6]) == [0, 1, 2, 3, 4, 5]), 'an array that an assignment has allocated')
    words = ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee', 'ffff']
    call MPI_Sendrecv(words(::2), 12, MPI_CHARACTER, partner, 3, got, 12, MPI_CHARACTER, partner, 3, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call check(all(got == ['aaaa', 'cccc', 'eeee']), 'characters')
    call MPI_Sendrecv(words(::2)(2:3), 6, MPI_CHARACTER, partner, 3, got, 12, MPI_CHARACTER, partner, 3, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call check(got(1) == 'aacc' .and. got(2)(1:2) == 'ee', 'substrings')
    pairs = [(cmplx(i, rank, 8), i = 1, 8)]
    call MPI_Bcast(pairs(2:8:3), 3, MPI_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD)
    call check(all(aimag(pairs(2:8:3)) == 0) .and. aimag(pairs(1)) == rank, 'complex numbers')
    one = pairs(1)
    call MPI_Bcast(one, 1, MPI_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD)
    call check(aimag(one) == 0, 'a scalar')
    call MPI_Bcast(nothing, 0, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Bcast(pairs(5:4:2), 0, MPI_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD)
  end subroutine

  subroutine assumed(sizes, shapes)
    real :: sizes(*)
    real, intent(in) :: shapes(:)
    real :: got(8)
    call MPI_Sendrecv(sizes, 8, MPI_REAL, partner, 5, got, 8, MPI_REAL, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(got == sizes(1:8)), 'assumed size')
    call MPI_Sendrecv(shapes(::2), 8, MPI_REAL, partner, 5, got, 8, MPI_REAL, partner, 5, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call check(all(got == shapes(:16:2)), 'assumed shape, of which a part is sent')
  end subroutine

  ! A datatype with gaps applies to the elements side by side; one of two elements of the array.
  subroutine datatypes_beside()
    type(MPI_Datatype) :: gaps, pair
    type(MPI_Request) :: request
    integer, asynchronous :: a(24), b(24)
    integer :: i
    a = [(i + 100 * rank, i = 1, 24)]
    b = 0
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, gaps)
    call MPI_Type_commit(gaps)
    call MPI_Irecv(b(2::2), 1, gaps, partner, 0, MPI_COMM_WORLD, request)
    call MPI_Send(a(::2), 1, gaps, partner, 0, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(b(2) == 1 + 100 * partner .and. b(6) == 5 + 100 * partner .and. count(b /= 0) == 2, &
               'a datatype with gaps over a section')
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    b = 0
    call MPI_Sendrecv(a(::3), 4, pair, partner, 0, b(::3), 4, pair, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(b(::3) == a(::3) + 100 * (partner - rank)), 'a datatype of two elements')
    call MPI_Type_free(gaps)
    call MPI_Type_free(pair)
  end subroutine

  ! Arrays of datatypes: for each rank, for each neighbour, and what a datatype was made of.
  subroutine datatype_lists()
    type(MPI_Datatype) :: single, record, types(max(ranks, 2)), parts(3)
    type(MPI_Request) :: request
    type(MPI_Comm) :: ring
    integer, asynchronous :: out(ranks), in(ranks)
    integer :: counts(max(ranks, 2)), displs(max(ranks, 2)), i, integers(4), combiner, n(3), pair(2)
    integer(MPI_ADDRESS_KIND) :: places(max(ranks, 2)), addresses(3)
    call MPI_Type_contiguous(1, MPI_INTEGER, single)
    call MPI_Type_commit(single)
    types = MPI_INTEGER
    types(2) = single
    counts = 1
    displs = [(4 * i, i = 0, size(displs) - 1)]
    places = displs
    out = [(100 * rank + i, i = 0, ranks - 1)]
    call MPI_Ialltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(in == [(100 * i + rank, i = 0, ranks - 1)]), 'datatypes for each rank')
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
    pair = -1
    call MPI_Neighbor_alltoallw([rank, rank + 50], counts, places, types, pair, counts, places, types, ring)
    call check(pair(1) == modulo(rank - 1, ranks) + 50 .and. pair(2) == modulo(rank + 1, ranks), &
               'datatypes for each neighbour')
    call MPI_Comm_free(ring)
    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_REAL, single], record)
    call MPI_Type_get_envelope(record, n(1), n(2), n(3), combiner)
    call MPI_Type_get_contents(record, 4, 3, 3, integers, addresses, parts)
    call MPI_Type_size(parts(2), i)
    call check(combiner == MPI_COMBINER_STRUCT .and. n(3) == 2 .and. parts(1) == MPI_REAL .and. i == 4 .and. &
               integers(3) == 2 .and. addresses(2) == 8, 'what a datatype was made of')
    call MPI_Type_free(record)
    call MPI_Type_free(single)
  end subroutine

  subroutine blocks()
    integer, asynchronous :: all_of(2, 2 * ranks), rows(4, ranks), counts(ranks), displs(ranks), i
    type(MPI_Request) :: request
    all_of = -1
    call MPI_Allgather([rank, 10 * rank], 2, MPI_INTEGER, all_of(1, :), 2, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(all_of(1, ::2) == [(i, i = 0, ranks - 1)]) .and. all(all_of(2, :) == -1), 'blocks in a section')
    rows = -1
    call MPI_Iallgather(rank, 1, MPI_INTEGER, rows(2, :), 1, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(rows(2, :) == [(i, i = 0, ranks - 1)]) .and. all(rows(1, :) == -1), 'nonblocking blocks')
    counts = 1
    displs = [(ranks - 1 - i, i = 0, ranks - 1)]
    call MPI_Allgatherv(rank, 1, MPI_INTEGER, rows(3, :), counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(rows(3, :) == displs), 'blocks at displacements')
  end subroutine

  subroutine persistent()
    integer, asynchronous :: plate(5, 5)
    type(MPI_Request) :: request
    integer :: turn
    call MPI_Allreduce_init(MPI_IN_PLACE, plate(2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do turn = 1, 3
      plate = turn
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(all(plate(2, :) == turn * ranks) .and. all(plate(3, :) == turn), 'a persistent reduction of a section')
    end do
    call MPI_Request_free(request)
    if (rank == 0) then
      call MPI_Send_init(plate(3, :), 5, MPI_INTEGER, partner, 0, MPI_COMM_WORLD, request)
    else
      call MPI_Recv_init(plate(1, :), 5, MPI_INTEGER, partner, 0, MPI_COMM_WORLD, request)
    end if
    if (rank < 2) then
      plate = rank
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(all(plate(1, :) == 0) .and. all(plate(2, :) == rank), 'a persistent message of a section')
    end if
    call MPI_Request_free(request)
  end subroutine

  subroutine one_sided()
    integer, asynchronous :: window(10), other(20)
    type(MPI_Win) :: win
    integer :: i
    window = 0
    other = [(i + 100 * rank, i = 1, 20)]
    call MPI_Win_create(window, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_Put(other(::2), 10, MPI_INTEGER, partner, 0_MPI_ADDRESS_KIND, 10, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(window == [(2 * i - 1 + 100 * partner, i = 1, 10)]), 'put of a section')
    call MPI_Get(other(20:2:-2), 10, MPI_INTEGER, rank, 0_MPI_ADDRESS_KIND, 10, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(other(20:2:-2) == window) .and. other(1) == 1 + 100 * rank, 'get into a section')
    call MPI_Win_free(win)
  end subroutine

  subroutine files()
    type(MPI_File) :: file
    character(len=32) :: name
    integer :: a(4, 6), b(24), i
    a = reshape([(i, i = 1, 24)], [4, 6])
    write (name, '(a,i0)') 'fortran-shapes-', rank
    call MPI_File_open(MPI_COMM_SELF, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file)
    call MPI_File_write(file, a(2, :), 6, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_write_all_begin(file, a(3, :), 6, MPI_INTEGER)
    call MPI_File_write_all_end(file, a(3, :), MPI_STATUS_IGNORE)
    b = 0
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, b(::2), 12, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(b(1:11:2) == a(2, :)) .and. all(b(13:23:2) == a(3, :)) .and. all(b(2::2) == 0), 'sections in files')
    call MPI_File_close(file)
  end subroutine

  ! The lengths of names count no NUL.
  subroutine sessions()
    type(MPI_Session) :: session
    type(MPI_Group) :: group
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    integer :: sets, i, length, size
    logical :: is_there
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets)
    is_there = .false.
    do i = 0, sets - 1
      length = 0
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name)
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name)
      call check(len_trim(name) == length, 'the length of the name of a process set')
      is_there = is_there .or. name == 'mpi://WORLD'
    end do
    call check(is_there, 'the process set of the world')
    call MPI_Group_from_session_pset(session, 'mpi://WORLD ', group)
    call MPI_Group_size(group, size)
    call check(size == ranks, 'the group of a process set')
    call MPI_Group_free(group)
    call MPI_Session_finalize(session)
    call check(session == MPI_SESSION_NULL, 'the session is null')
    call MPI_F_sync_reg(size)
  end subroutine

end program
