!SPDX - License - Identifier : BSD - 3 -
                               Clause !What differs between the interfaces.Procedures whose two forms have the same
                                   arguments have one generic name in mpi_f08;
!the large form is called by its specific name.
#ifdef F08
#define COMM_T       type(MPI_Comm)
#define DATATYPE_T   type(MPI_Datatype)
#define ERRHANDLER_T type(MPI_Errhandler)
#define FILE_T       type(MPI_File)
#define GROUP_T      type(MPI_Group)
#define INFO_T       type(MPI_Info)
#define MESSAGE_T    type(MPI_Message)
#define OP_T         type(MPI_Op)
#define REQUEST_T    type(MPI_Request)
#define SESSION_T    type(MPI_Session)
#define STATUS_T     type(MPI_Status)::status, statuses(4)
#define WIN_T        type(MPI_Win)
#else
#define COMM_T       integer
#define DATATYPE_T   integer
#define ERRHANDLER_T integer
#define FILE_T       integer
#define GROUP_T      integer
#define INFO_T       integer
#define MESSAGE_T    integer
#define OP_T         integer
#define REQUEST_T    integer
#define SESSION_T    integer
#define STATUS_T     integer ::status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
#define WIN_T        integer
#endif
#ifdef LARGE
#define MPI_Op_create            MPI_Op_create_c
#define MPI_Register_datarep     MPI_Register_datarep_c
#define MPI_CONVERSION_FN_NULL   MPI_CONVERSION_FN_NULL_C
#define combine                  combine_c
#define MPI_Type_create_resized  MPI_Type_create_resized_c_f08
#define MPI_Type_get_extent      MPI_Type_get_extent_c_f08
#define MPI_Type_get_true_extent MPI_Type_get_true_extent_c_f08
#define MPI_File_get_type_extent MPI_File_get_type_extent_c_f08
#endif
