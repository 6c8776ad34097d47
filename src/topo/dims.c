/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dims_create: factors as equal as possible.
 *
 * Among all ways to write the number as a product of k factors in nonincreasing order we want the one with the least
 * difference between the first and the last; among those, the least sum. (Simple greedy rules miss it, see Träff and
 * Lübbe, "Specification Guideline Violations by MPI_Dims_create", EuroMPI 2015.) The search tries the divisors as
 * first factor from the k-th root upwards. Once a solution with difference d is known, a first factor f leaves only
 * divisors from f - d to f, and the first factor whose rest cannot reach f - d ends the search. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "topo/cart.h"

enum { DIVISORS_MOST = 1600, FACTORS_MOST = 31 }; /* of a number below 2^31: 2095133040 has most */

struct search {
    int divisors[DIVISORS_MOST]; /* ascending */
    int divisor_count;
    int count; /* of factors wanted */
    int factors[FACTORS_MOST];
    int best[FACTORS_MOST];
    int best_spread;
    int64_t best_sum;
};

static void find_divisors(struct search *search, int number)
{
    int upper[DIVISORS_MOST], uppers = 0;

    search->divisor_count = 0;
    for (int64_t d = 1; d * d <= number; d++) {
        if (number % d)
            continue;
        search->divisors[search->divisor_count++] = (int)d;
        if (d * d != number)
            upper[uppers++] = (int)(number / d);
    }
    while (uppers > 0)
        search->divisors[search->divisor_count++] = upper[--uppers];
}

/* Whether `count` factors of at least (at most) `factor` can have a product of `number`. */
static bool is_reachable(int64_t number, int64_t factor, int count, bool at_least)
{
    int64_t product = 1;

    for (int i = 0; i < count; i++) {
        product *= factor;
        if (product > number)
            return !at_least;
    }
    return at_least || product == number;
}

static void take_solution(struct search *search, int64_t sum)
{
    int spread = search->factors[0] - search->factors[search->count - 1];

    if (spread > search->best_spread || (spread == search->best_spread && sum >= search->best_sum))
        return;
    search->best_spread = spread;
    search->best_sum = sum;
    memcpy(search->best, search->factors, (size_t)search->count * sizeof search->best[0]);
}

/* Writes `rest` as the factors from number `level` on, each at most the one before; `top` is the index of that one
 * among the divisors, `sum` the sum of the factors so far. */
static void descend(struct search *search, int level, int rest, int top, int64_t sum)
{
    int left = search->count - level;

    if (left == 0) {
        if (rest == 1)
            take_solution(search, sum);
        return;
    }
    for (int i = top; i >= 0; i--) {
        int factor = search->divisors[i];
        if (factor < search->factors[0] - search->best_spread || !is_reachable(rest, factor, left, false))
            return;
        if (rest % factor)
            continue;
        search->factors[level] = factor;
        descend(search, level + 1, rest / factor, i, sum + factor);
    }
}

static int largest_prime(int number)
{
    int largest = 1;

    for (int64_t d = 2; d * d <= number; d++)
        while (number % d == 0) {
            number /= (int)d;
            largest = (int)d;
        }
    return number > 1 ? number : largest;
}

/* Whether a first factor can still give a spread no worse than the best. */
static bool is_promising(const struct search *search, int number, int first)
{
    int64_t least = (int64_t)first - search->best_spread;

    return least < 1 || is_reachable(number / first, least, search->count - 1, true);
}

static void search_factors(struct search *search, int number, int count)
{
    int prime = largest_prime(number);

    find_divisors(search, number);
    search->count = count;
    search->best_spread = number; /* worse than any */
    search->best_sum = INT64_MAX;
    for (int i = 0; i < search->divisor_count; i++) {
        int first = search->divisors[i];
        if (first < prime || !is_reachable(number, first, count, false))
            continue;
        if (!is_promising(search, number, first))
            return;
        search->factors[0] = first;
        descend(search, 1, number / first, i, first);
    }
}

int mur_dims_create(int nnodes, int ndims, int *dims)
{
    struct search search;
    int64_t fixed = 1;
    int free_count = 0, next = 0, searched;

    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return mur_error(MPI_ERR_DIMS, "dimension %d is %d, but must be 0 or more", i, dims[i]);
        if (dims[i] == 0)
            free_count++;
        else if (fixed <= nnodes)
            fixed *= dims[i];
    }
    if (ndims == 0 && nnodes <= 1)
        return MPI_SUCCESS;
    if (nnodes < 1 || nnodes % fixed || (free_count == 0 && fixed != nnodes))
        return mur_error(MPI_ERR_DIMS, "nnodes is %d, which cannot be the product of these %d dimensions", nnodes,
                         ndims);
    if (free_count == 0)
        return MPI_SUCCESS;
    /* More factors than a number has prime ones can only be ones. */
    searched = free_count < FACTORS_MOST ? free_count : FACTORS_MOST;
    search_factors(&search, (int)(nnodes / fixed), searched);
    for (int i = 0; i < ndims; i++)
        if (dims[i] == 0) {
            dims[i] = next < searched ? search.best[next] : 1;
            next++;
        }
    return MPI_SUCCESS;
}
