! Heat in Fortran: a plate whose left edge is hot, cut into blocks over a Cartesian grid of ranks. In every step each rank
! exchanges the edges of its block with its four neighbours, as sections of the array: MPI takes rows and columns alike, no
! datatypes and no copies are needed. At the end rank 0 computes the whole plate alone and compares.
! Run: mpiexec -n 4 heat_f08 [cells] [steps]
program heat
  use mpi_f08
  implicit none
  integer, parameter :: hot = 100
  integer :: ranks, rank, cells, steps, done, dims(2), coords(2), first(2), last(2)
  integer :: up, down, left, right
  double precision, allocatable, asynchronous :: now(:, :)
  double precision :: change, own, total
  type(MPI_Comm) :: grid

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  cells = argument(1, 96)
  steps = argument(2, 500)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims)
  if (cells < maxval(dims)) then
    print '(a,i0,a,2i3,a)', 'heat: ', cells, ' cells a side are too few for a grid of', dims, ' ranks'
    call MPI_Abort(MPI_COMM_WORLD, 2)
  end if
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., grid)
  call MPI_Comm_rank(grid, rank)
  call MPI_Cart_coords(grid, rank, 2, coords)
  call MPI_Cart_shift(grid, 0, 1, up, down)
  call MPI_Cart_shift(grid, 1, 1, left, right)
  first = cells * coords / dims + 1
  last = cells * (coords + 1) / dims

  now = start(first, last)
  change = 1
  done = 0
  do while (done < steps .and. change > 1d-6)
    call exchange_halo(now, last(1) - first(1) + 1, last(2) - first(2) + 1)
    call step(now, change)
    call MPI_Allreduce(MPI_IN_PLACE, change, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid)
    done = done + 1
  end do
  own = sum_of(now)
  call MPI_Reduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, grid)
  if (rank == 0) call compare(total)
  call MPI_Comm_free(grid)
  call MPI_Finalize()
contains
  integer function argument(number, default)
    integer, intent(in) :: number, default
    character(len=32) :: text
    integer :: length
    call get_command_argument(number, text, length)
    argument = default
    if (length > 0) read (text, *) argument
  end function

  ! A block with a halo of one cell: cold, but hot where the plate's left edge is.
  function start(from, to) result(block)
    integer, intent(in) :: from(2), to(2)
    double precision, allocatable :: block(:, :)
    allocate (block(0:to(1) - from(1) + 2, 0:to(2) - from(2) + 2))
    block = 0
    if (from(2) == 1) block(:, 0) = hot
  end function

  subroutine exchange_halo(block, rows, columns)
    integer, intent(in) :: rows, columns
    double precision, asynchronous, intent(inout) :: block(0:, 0:)
    type(MPI_Request) :: requests(8)
    call MPI_Irecv(block(0, 1:columns), columns, MPI_DOUBLE_PRECISION, up, 0, grid, requests(1))
    call MPI_Irecv(block(rows + 1, 1:columns), columns, MPI_DOUBLE_PRECISION, down, 1, grid, requests(2))
    call MPI_Irecv(block(1:rows, 0), rows, MPI_DOUBLE_PRECISION, left, 2, grid, requests(3))
    call MPI_Irecv(block(1:rows, columns + 1), rows, MPI_DOUBLE_PRECISION, right, 3, grid, requests(4))
    call MPI_Isend(block(rows, 1:columns), columns, MPI_DOUBLE_PRECISION, down, 0, grid, requests(5))
    call MPI_Isend(block(1, 1:columns), columns, MPI_DOUBLE_PRECISION, up, 1, grid, requests(6))
    call MPI_Isend(block(1:rows, columns), rows, MPI_DOUBLE_PRECISION, right, 2, grid, requests(7))
    call MPI_Isend(block(1:rows, 1), rows, MPI_DOUBLE_PRECISION, left, 3, grid, requests(8))
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine step(block, largest)
    double precision, intent(inout) :: block(0:, 0:)
    double precision, intent(out) :: largest
    double precision, allocatable :: next(:, :)
    integer :: m, n
    m = ubound(block, 1) - 1
    n = ubound(block, 2) - 1
    next = 0.25d0 * (block(0:m - 1, 1:n) + block(2:m + 1, 1:n) + block(1:m, 0:n - 1) + block(1:m, 2:n + 1))
    largest = maxval(abs(next - block(1:m, 1:n)))
    block(1:m, 1:n) = next
  end subroutine

  double precision function sum_of(block)
    double precision, intent(in) :: block(0:, 0:)
    sum_of = sum(block(1:ubound(block, 1) - 1, 1:ubound(block, 2) - 1))
  end function

  ! The same number of steps on the whole plate, by one rank.
  subroutine compare(result)
    double precision, intent(in) :: result
    double precision, allocatable :: whole(:, :)
    double precision :: reference, last_change
    integer :: i
    whole = start([1, 1], [cells, cells])
    do i = 1, done
      call step(whole, last_change)
    end do
    reference = sum_of(whole)
    print '(a,i0,a,i0,a,i0,a,es8.2,a,f0.6)', 'heat: ', cells, ' cells a side on ', ranks, ' ranks, ', done, &
      ' steps, last change ', change, ', mean ', result / cells**2
    if (abs(result - reference) > 1d-9 * reference) then
      print '(a)', 'heat: THE RESULT IS WRONG'
      call MPI_Abort(grid, 1)
    end if
  end subroutine
end program
