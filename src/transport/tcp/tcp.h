/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the TCP transport: links, and what travels on them.
 *
 * A link joins this process and a peer. It is a pair of streams of bytes, one each way, that outlive any connection:
 * what was sent is kept until the peer has acknowledged it, and when a connection breaks the next one goes on, each
 * way, at the byte that the other side has told it has received. So a cut network loses nothing and doubles nothing.
 *
 * A stream is a sequence of frames: struct mur_tcp_header, then the data, padded to a multiple of 8 bytes, so that what
 * is read into aligned memory stays aligned. Beside the engine's frames there are two of the transport's own: ACK and
 * BYE. Connections are made at first use, by either side; when both call at once, the call of the lower process is the
 * one (base/handshake.h has the greeting).
 *
 *   out.c      the queue of what goes out: segments, in memory of ours or, straight, of the user's
 *   socket.c   options of sockets
 *   splice.c   sending from the user's memory without a copy
 *   in.c       reading, and delivering frames; large data is read to where it belongs
 *   sealed.c   what is between a link's stream and its connection where that is encrypted or authenticated
 *   link.c     the life of a link: finding the peer, calling, being called, breaking, ending
 *   greet.c    greetings under way, with peers and strangers
 *   files.c    the limit of open files
 *   restart.c  after a restart from a snapshot: other addresses, on both sides
 *   port.c     where processes of other jobs come in; links with these are like all others, but end when both part
 *   tcp.c      the table of operations, progress and sleeping */
#ifndef MUR_TRANSPORT_TCP_TCP_H
#define MUR_TRANSPORT_TCP_TCP_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/address.h"
#include "base/handshake.h"
#include "engine/state.h"
#include "transport/foreign.h"
#include "transport/transport.h"

struct mur_tcp_header {
    struct mur_frame frame;
    uint32_t spare;
};
_Static_assert(sizeof(struct mur_tcp_header) == 24, "frames on the wire are multiples of 8 bytes");

static inline size_t mur_tcp_padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* Kinds of the transport's own, and the flag of frames that are to be acknowledged at once. */
enum { MUR_TCP_ACK = 0xff01, MUR_TCP_BYE = 0xff02 };
enum { MUR_TCP_ACK_NOW = 0x8000 };

enum {
    MUR_TCP_FRAME_MAX = 256 << 10,     /* data of a frame from memory of ours */
    MUR_TCP_STRAIGHT_MAX = 512 << 10,  /* and of the user's */
    MUR_TCP_WINDOW = 4 << 20,          /* bytes of a stream that may be unacknowledged */
    MUR_TCP_ACK_EVERY = 256 << 10,     /* bytes received that are acknowledged unasked */
    MUR_TCP_SEGMENT = (64 << 10) + 64, /* bytes of an ordinary segment: the largest eager message and its header */
};

/* A part of the outgoing stream, until it is acknowledged. */
struct mur_out_segment {
    struct mur_out_segment *next;
    uint64_t start; /* position in the stream */
    size_t bytes;   /* in use */
    size_t space;   /* in all; 0: the memory is not ours */
    const char *data;
    mur_sent_function *sent; /* for memory that is not ours */
    void *argument;
    char own[] __attribute__((aligned(8)));
};

enum mur_link_state {
    MUR_LINK_ASKED,   /* the peer's addresses are asked for */
    MUR_LINK_CALLING, /* the greeting with one of its addresses is under way */
    MUR_LINK_WAITING, /* until it is time to call again, or the peer calls */
    MUR_LINK_UP,
    MUR_LINK_ENDED, /* both have said BYE; a new frame, or a call of the peer's, connects it again */
    MUR_LINK_LOST,  /* the peer, a foreign one, has ended without a BYE: for good */
};

struct mur_pipe;
struct mur_sealed;

struct mur_link {
    enum mur_link_state state;
    struct mur_peer *peer;
    int fd;           /* -1: not connected */
    uint32_t watched; /* events in the epoll set */
    bool is_hot;      /* polled by reading */
    uint32_t idle_polls;
    LIST_ENTRY(mur_link) in_links;
    struct mur_sealed *seal; /* of the connection; NULL: it has none */

    /* outgoing */
    struct mur_out_segment *first, *last; /* not acknowledged yet, in order */
    struct mur_out_segment *next;         /* the first that is not sent whole; NULL: all is sent */
    uint64_t queued, sent, acked;         /* positions in the stream */
    uint64_t last_send;                   /* of mur_clock_ns */
    bool is_unsent;                       /* in the list of links that keep frames back */
    bool is_full;                         /* the socket takes no more for now */
    bool is_given_up;                     /* calls do not stay for this connection any more; until it is made */
    struct mur_link *next_unsent;
    struct mur_pipe *pipe; /* of a straight segment under way; what it holds comes next */
    bool has_said_bye;
    uint64_t bye_end;                /* position behind the latest BYE */
    uint64_t quiet_start, quiet_end; /* of the answer to the peer's latest BYE */

    /* incoming */
    uint64_t received; /* position */
    uint64_t told;     /* the position that the latest ACK told */
    bool wants_ack;
    bool has_heard_bye;
    bool owes_bye;                /* a foreign peer's is to be answered */
    struct mur_tcp_header header; /* of the frame whose data is being placed */
    char *place;                  /* where the rest of its data goes; NULL: none is under way */
    size_t place_left;
    char *bounce; /* the place is memory of ours */
    unsigned pad; /* bytes to skip next */
    bool is_reading;
    int broken; /* errno of a write that failed while frames were delivered */
    int large;  /* reads for which another large frame is expected */
    size_t partial_bytes;
    char *partial;          /* the start of a frame that has not come whole */
    uint64_t stall_due;     /* ms; when the rest of a frame must have come */
    bool has_retried;       /* a connection was given up for the sake of that rest */
    uint64_t altered_since; /* ms; since then all that has come did not open; 0: something has */

    /* the peer */
    char host[64];
    struct mur_address addresses[MUR_ADDRESSES_MAX];
    int faults[MUR_ADDRESSES_MAX]; /* errno of the latest try of each */
    int address_count, address;    /* the one being tried */
    uint64_t connections;          /* that it has had so far; never set back */
    uint64_t lost_since;           /* ms; when the link began to be without a connection */
    uint64_t due;                  /* ms; when a state must have ended */
    int tries;
    struct mur_greeting *greeting; /* the call under way */
};

struct mur_port_call;

/* A connection that is not a link's yet. */
struct mur_greeting {
    int fd;
    bool is_caller;
    bool is_silent; /* has called, and not said who it is in a way that only those who know the secret can */
    bool is_connecting;
    enum { MUR_GREET_HELLO, MUR_GREET_CHALLENGE, MUR_GREET_PROOF, MUR_GREET_WELCOME } awaited;
    struct mur_link *link;      /* the caller's */
    struct mur_port_call *call; /* the caller's, where a port is called */
    struct mur_handshake handshake;
    uint64_t received;    /* as told to the peer */
    uint64_t connections; /* that the caller's link had had when it called: a later one makes the call stale */
    uint64_t since, due;  /* ms */
    size_t got;
    union {
        struct mur_hello hello;
        struct mur_challenge challenge;
        struct mur_proof proof;
        struct mur_welcome welcome;
    } message;
    TAILQ_ENTRY(mur_greeting) in_greetings;
};

TAILQ_HEAD(mur_greetings, mur_greeting);

struct mur_tcp {
    struct mur_peer *peers;
    int peer_count;          /* of this world; behind them in the table are the foreign ones */
    struct mur_identity own; /* of this process, as it is told to foreign ones */
    int epoll;
    int listeners[MUR_ADDRESSES_MAX], listener_count;
    uint64_t listen_due; /* ms; 0: they are watched; else when they will be again */
    uint16_t port;
    int descriptors; /* in the epoll set */
    LIST_HEAD(, mur_link) links;
    struct mur_link *hot[4]; /* links that had frames lately */
    int hot_count;
    struct mur_link *unsent;                /* links that keep frames back */
    struct mur_greetings greetings, silent; /* oldest first; a greeting is in one of them */
    int called_count, silent_count;         /* of those who have called: who have said who they are, and who have not */
    int looks;                              /* passes that ask epoll at once, since a greeting has just gone on */
    uint32_t passes;
    uint64_t early_since;  /* ms; when a call began to stay for connections; 0: none does */
    uint64_t early_so_far; /* ms; how long calls have stayed */
    uint32_t restarts;     /* of mur_process, that this transport has acted upon */
    bool is_finishing;
    bool is_deaf; /* it has left MPI, and takes no calls */
};
extern struct mur_tcp mur_tcp;

/* What the descriptors in the epoll set belong to. */
enum mur_tcp_what {
    MUR_TCP_LISTENER,
    MUR_TCP_DOORBELL,
    MUR_TCP_CONTROL,
    MUR_TCP_LINK,
    MUR_TCP_GREETING,
    MUR_TCP_TALK /* a descriptor that somebody waits for who looks himself */
};
/* It is new if it is not in the set. Ends the job if it cannot be watched: that would be noticed by nobody. */
void mur_tcp_watch(int fd, uint32_t events, enum mur_tcp_what what, void *owner, bool is_new);
void mur_tcp_unwatch(int fd);
void mur_tcp_close(int fd); /* also out of the set */

uint64_t mur_tcp_now(void); /* ms, monotonic */

/* tcp.c: listens, at a new port, and tells the launcher where. */
int mur_tcp_listen(void);
int mur_tcp_publish(void);

/* restart.c: if this process has been restarted since this was called last, all connections are gone, and so are all
 * addresses. */
void mur_tcp_notice_restart(void);

/* Something is to be done at that time, or before. */
void mur_tcp_set_timer(uint64_t due);

/* Whether the peer comes after this process, in an order that all agree on. */
bool mur_tcp_is_first(const struct mur_peer *peer);

/* out.c */
bool mur_out_send(struct mur_peer *peer, const struct mur_frame *frame, const void *data);
bool mur_out_send_packed(struct mur_peer *peer, const struct mur_frame *frame, mur_pack_function *pack, void *argument);
bool mur_out_send_straight(struct mur_peer *peer, const struct mur_frame *frame, const void *data,
                           mur_sent_function *sent, void *argument);
void mur_out_flush_all(void);
void mur_out_write(struct mur_link *link);                              /* as much as the socket takes */
void mur_out_own(struct mur_link *link, uint16_t kind, uint64_t value); /* a frame of the transport's own */
/* The peer has received everything up to this position, which lies in the stream: it need not be sent again. */
void mur_out_arrived(struct mur_link *link, uint64_t position);
bool mur_out_acked(struct mur_link *link, uint64_t position); /* the same; false: so much has not been sent */
void mur_out_rewind(struct mur_link *link);                   /* what is not acknowledged will be sent again */

/* socket.c */
void mur_socket_begin(int fd);   /* a socket that will call, or listen */
void mur_socket_options(int fd); /* one that calls, or was called */
void mur_socket_joined(int fd, char *host, size_t room);
bool mur_socket_is_near(int fd); /* connected to this host, by an address that both ends have */
void mur_socket_keep_alive(int fd);
void mur_socket_forget_unsent(int fd); /* before it is closed */

/* splice.c */
enum { MUR_SPLICE_REFUSED = -2 }; /* to be sent by a copy */
bool mur_splice_serves(const struct mur_link *link,
                       const struct mur_out_segment *segment); /* which is next, or later */
ssize_t mur_splice_write(struct mur_link *link);               /* of the next segment */
void mur_splice_drop(struct mur_link *link);
void mur_splice_trim(void); /* gives up what is kept for later */

/* files.c */
void mur_files_reserve(void);        /* before a descriptor is opened */
bool mur_files_more(void);           /* after that has failed, with errno: whether to try once more */
void mur_files_are_short(int error); /* it has failed for good, for now; to be tried again */
void mur_files_suffice(void);        /* it has not failed */

/* in.c */
int mur_in_read(struct mur_link *link);              /* frames delivered */
bool mur_in_is_partial(const struct mur_link *link); /* a frame has come in part */
void mur_in_limit_stall(struct mur_link *link);      /* sets how long its rest may take from now on */
void mur_in_stalled(struct mur_link *link);          /* for too long */

/* link.c */
struct mur_link *mur_link_of(struct mur_peer *peer);   /* makes it, and starts to look for the peer */
struct mur_link *mur_link_find(struct mur_peer *peer); /* makes it */
void mur_link_broken(struct mur_link *link, int error);
void mur_link_call_failed(struct mur_link *link, int error);
void mur_link_altered(struct mur_link *link); /* what the connection has brought is not what the peer has sent */
void mur_link_join(struct mur_link *link, int fd, uint64_t peer_received, const struct mur_handshake *greeting,
                   bool is_caller);
void mur_link_say_bye(struct mur_link *link);
void mur_link_end_if_said(struct mur_link *link);
void mur_link_answer_bye(struct mur_link *link); /* if that is owed, and nothing of ours is under way */
bool mur_link_is_over(const struct mur_link *link);
void mur_link_restart(struct mur_link *link);       /* the peer is somewhere else */
void mur_link_leave(struct mur_link *link);         /* closes it: this process leaves MPI, and owes the peer nothing */
bool mur_link_is_left(const struct mur_link *link); /* the peer, of this job, has left MPI */
bool mur_link_is_settled(const struct mur_link *link);
void mur_link_answers(void);      /* of the launcher */
int mur_links_tick(uint64_t now); /* how many it has acted on */
uint64_t mur_links_due(void);     /* ms; UINT64_MAX: never */

/* Whether a call that is about to leave MPI should stay for connections: without progress they are not made, and what
 * was sent over them would not arrive before this process calls MPI again. */
bool mur_links_are_early(void);
void mur_link_heat(struct mur_link *link);
void mur_link_cool(struct mur_link *link);

/* greet.c */
bool mur_greet_call(struct mur_link *link, const struct mur_address *address, uint64_t patience);
bool mur_greet_call_port(struct mur_port_call *call, uint64_t patience);
void mur_greet_accept(int listener);
void mur_greets_stop(void);  /* no calls are taken from now on: peers are refused at once; */
void mur_greets_start(void); /* they are again, at the same port */
void mur_greet_ready(struct mur_greeting *greeting, uint32_t events);
void mur_greet_drop(struct mur_greeting *greeting);
int mur_greets_tick(uint64_t now); /* how many it gave up */
uint64_t mur_greets_due(void);     /* ms; UINT64_MAX: never */

#endif
