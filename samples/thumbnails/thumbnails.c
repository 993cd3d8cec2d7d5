/*
 * thumbnails: makes small copies of images, several at a time.
 *
 * This is a realistic program: a queue, worker threads, and a library (the stb headers) that does the heavy work. Its
 * report should say that nearly all application time lies below load_image (decoding) and shrink (resizing). main only
 * waits, so it should have a long elapsed time and almost no application time. The workers should share the images
 * between them. Compile it with -finstrument-functions:
 *
 *     cc -std=gnu11 -finstrument-functions -g -O2 thumbnails.c -o thumbnails -lpthread -lm
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The libraries are compiled here, so that they are instrumented like the rest. */
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

enum { DEFAULT_SIZE = 256, MAX_SIZE = 16384, MAX_THREADS = 1024, EXIT_USAGE = 2 };

struct image {
    int width;
    int height;
    int channels;
    unsigned char *pixels;
};

/* An image to process. The worker fills in the results and sets done last, under the lock. */
struct job {
    const char *source;
    char *target;
    int old_width, old_height;
    int new_width, new_height;
    char error[160]; /* empty if it succeeded */
    bool done;
    struct job *next;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t job_added;
    pthread_cond_t job_done;
    struct job *first;
    struct job **end;
    bool closed;
};

struct options {
    int threads;
    int size;
    const char *directory;
    char **sources;
    int source_count;
};

struct worker {
    pthread_t thread;
    int number; /* from 1 */
    struct workshop *shop;
};

struct workshop {
    struct queue queue;
    int size;
    struct worker *workers;
    int worker_count;
};

/* ------------------------------------------------------------------ images */

static void fail(struct job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct job *job, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job->error, sizeof job->error, format, arguments);
    va_end(arguments);
}

static bool load_image(struct job *job, struct image *image)
{
    FILE *file = fopen(job->source, "rb");
    if (file == NULL) {
        fail(job, "%s", strerror(errno));
        return false;
    }
    image->pixels = stbi_load_from_file(file, &image->width, &image->height, &image->channels, 0);
    fclose(file);
    if (image->pixels == NULL) {
        fail(job, "not an image that can be read (%s)", stbi_failure_reason());
        return false;
    }
    job->old_width = image->width;
    job->old_height = image->height;
    return true;
}

/* Scales one side by the ratio of the longest side. A very thin image keeps at least one pixel. */
static int fit(int side, int longest, int size)
{
    int scaled = (int)(((long long)side * size + longest / 2) / longest);
    return scaled > 0 ? scaled : 1;
}

/* An image that is small enough keeps its size: enlarging would only blur it. */
static void choose_size(struct job *job, int size)
{
    int longest = job->old_width > job->old_height ? job->old_width : job->old_height;
    if (size > longest)
        size = longest;
    job->new_width = fit(job->old_width, longest, size);
    job->new_height = fit(job->old_height, longest, size);
}

static bool shrink(struct job *job, const struct image *big, struct image *small)
{
    /* Grey + alpha has 2 channels and colour + alpha 4: alpha is always the last one. */
    bool has_alpha = big->channels == 2 || big->channels == 4;
    int alpha = has_alpha ? big->channels - 1 : STBIR_ALPHA_CHANNEL_NONE;

    small->width = job->new_width;
    small->height = job->new_height;
    small->channels = big->channels;
    small->pixels = malloc((size_t)small->width * (size_t)small->height * (size_t)small->channels);
    if (small->pixels == NULL || !stbir_resize_uint8_srgb(big->pixels, big->width, big->height, 0, small->pixels,
                                                          small->width, small->height, 0, big->channels, alpha, 0)) {
        fail(job, "out of memory");
        return false;
    }
    return true;
}

static void write_bytes(void *file, void *bytes, int length)
{
    /* A short write sets the stream's error flag, which save_thumbnail checks at the end. */
    fwrite(bytes, 1, (size_t)length, file);
}

static bool encode(const struct image *image, FILE *file)
{
    return stbi_write_png_to_func(write_bytes, file, image->width, image->height, image->channels, image->pixels,
                                  image->width * image->channels) != 0 &&
           !ferror(file);
}

static void save_thumbnail(struct job *job, const struct image *image)
{
    FILE *file = fopen(job->target, "wb");
    if (file == NULL) {
        fail(job, "%s: %s", job->target, strerror(errno));
        return;
    }
    errno = 0;
    bool written = encode(image, file);
    if (fclose(file) != 0 || !written) {
        fail(job, "%s: %s", job->target, errno ? strerror(errno) : "cannot be written");
        unlink(job->target); /* no thumbnail is better than half of one */
    }
}

static void make_thumbnail(struct job *job, int size)
{
    struct image big = { 0 };
    struct image small = { 0 };

    if (load_image(job, &big)) {
        choose_size(job, size);
        if (shrink(job, &big, &small))
            save_thumbnail(job, &small);
    }
    free(small.pixels);
    stbi_image_free(big.pixels);
}

/* ------------------------------------------------------------------- queue */

static void queue_init(struct queue *queue)
{
    *queue = (struct queue){ .end = &queue->first };
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->job_added, NULL);
    pthread_cond_init(&queue->job_done, NULL);
}

static void queue_destroy(struct queue *queue)
{
    pthread_cond_destroy(&queue->job_done);
    pthread_cond_destroy(&queue->job_added);
    pthread_mutex_destroy(&queue->lock);
}

static void queue_push(struct queue *queue, struct job *job)
{
    pthread_mutex_lock(&queue->lock);
    *queue->end = job;
    queue->end = &job->next;
    pthread_cond_signal(&queue->job_added);
    pthread_mutex_unlock(&queue->lock);
}

/* Ends the queue: workers that find it empty end. */
static void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->job_added);
    pthread_mutex_unlock(&queue->lock);
}

static struct job *queue_pop(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->first == NULL && !queue->closed)
        pthread_cond_wait(&queue->job_added, &queue->lock);
    struct job *job = queue->first;
    if (job != NULL) {
        queue->first = job->next;
        if (queue->first == NULL)
            queue->end = &queue->first;
    }
    pthread_mutex_unlock(&queue->lock);
    return job;
}

static void announce(struct queue *queue, struct job *job)
{
    pthread_mutex_lock(&queue->lock);
    job->done = true;
    pthread_cond_signal(&queue->job_done);
    pthread_mutex_unlock(&queue->lock);
}

static void wait_for(struct queue *queue, const struct job *job)
{
    pthread_mutex_lock(&queue->lock);
    while (!job->done)
        pthread_cond_wait(&queue->job_done, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
}

/* ----------------------------------------------------------------- workers */

static void name_worker(const struct worker *worker)
{
    char name[32]; /* Linux allows 15 characters; MAX_THREADS ensures that */
    snprintf(name, sizeof name, "worker-%d", worker->number);
    pthread_setname_np(pthread_self(), name);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct workshop *shop = worker->shop;
    struct job *job;

    name_worker(worker);
    while ((job = queue_pop(&shop->queue)) != NULL) {
        make_thumbnail(job, shop->size);
        announce(&shop->queue, job);
    }
    return NULL;
}

static int start_worker(struct workshop *shop)
{
    struct worker *worker = &shop->workers[shop->worker_count];

    worker->number = shop->worker_count + 1;
    worker->shop = shop;
    int error = pthread_create(&worker->thread, NULL, work, worker);
    if (error == 0)
        shop->worker_count++;
    return error;
}

/* Fewer workers than requested still finish the job, so only none at all is an error. */
static bool start_workers(struct workshop *shop, int wanted)
{
    int error = 0;

    shop->workers = calloc((size_t)wanted, sizeof *shop->workers);
    if (shop->workers == NULL)
        error = ENOMEM;
    while (error == 0 && shop->worker_count < wanted)
        error = start_worker(shop);
    if (shop->worker_count == 0)
        fprintf(stderr, "thumbnails: no thread can be started: %s\n", strerror(error));
    return shop->worker_count > 0;
}

static void join_workers(struct workshop *shop)
{
    for (int i = 0; i < shop->worker_count; i++)
        pthread_join(shop->workers[i].thread, NULL);
    free(shop->workers);
}

/* ---------------------------------------------------------------- the plan */

/* photos/cat.jpg becomes DIRECTORY/cat.thumb.png, which cannot be one of the usual inputs. */
static char *name_target(const char *directory, const char *source)
{
    const char *slash = strrchr(source, '/');
    const char *name = slash != NULL ? slash + 1 : source;
    const char *dot = strrchr(name, '.');
    int length = dot != NULL && dot != name ? (int)(dot - name) : (int)strlen(name);
    char *target;

    return asprintf(&target, "%s/%.*s.thumb.png", directory, length, name) < 0 ? NULL : target;
}

static bool is_taken(const struct job *jobs, int count, const char *target)
{
    for (int i = 0; i < count; i++)
        if (strcmp(jobs[i].target, target) == 0)
            return true;
    return false;
}

static void free_jobs(struct job *jobs, int count)
{
    for (int i = 0; i < count; i++)
        free(jobs[i].target);
    free(jobs);
}

/* Two images of one name would overwrite each other's thumbnail, so the second is refused. */
static struct job *plan_jobs(const struct options *options)
{
    struct job *jobs = calloc((size_t)options->source_count, sizeof *jobs);
    if (jobs == NULL)
        return NULL;
    for (int i = 0; i < options->source_count; i++) {
        jobs[i].source = options->sources[i];
        jobs[i].target = name_target(options->directory, options->sources[i]);
        if (jobs[i].target == NULL) {
            free_jobs(jobs, i);
            return NULL;
        }
        if (is_taken(jobs, i, jobs[i].target)) {
            fail(&jobs[i], "%s would be written twice", jobs[i].target);
            jobs[i].done = true;
        }
    }
    return jobs;
}

static bool print_result(const struct job *job)
{
    if (job->error[0] != '\0') {
        fprintf(stderr, "thumbnails: %s: %s\n", job->source, job->error);
        return false;
    }
    printf("%s: %dx%d -> %dx%d\n", job->source, job->old_width, job->old_height, job->new_width, job->new_height);
    return true;
}

/* Prints in the order of the command line, each image once it and those before are done. */
static bool print_results(struct queue *queue, const struct job *jobs, int count)
{
    bool all_well = true;
    for (int i = 0; i < count; i++) {
        wait_for(queue, &jobs[i]);
        all_well &= print_result(&jobs[i]);
    }
    return all_well;
}

static bool make_thumbnails(const struct options *options, struct job *jobs)
{
    struct workshop shop = { .size = options->size };
    bool all_well = false;

    queue_init(&shop.queue);
    if (start_workers(&shop, options->threads)) {
        for (int i = 0; i < options->source_count; i++)
            if (!jobs[i].done)
                queue_push(&shop.queue, &jobs[i]);
        queue_close(&shop.queue);
        all_well = print_results(&shop.queue, jobs, options->source_count);
    }
    join_workers(&shop);
    queue_destroy(&shop.queue);
    return all_well;
}

/* ------------------------------------------------------------ command line */

static void print_usage(FILE *stream)
{
    fputs("usage: thumbnails [-j THREADS] [-s SIZE] -o OUTDIR IMAGE...\n"
          "Writes OUTDIR/NAME.thumb.png for each image, its longest side at most SIZE pixels.\n"
          "  -j THREADS  images worked on at a time (default: one for each processor)\n"
          "  -s SIZE     longest side of a thumbnail (default: 256)\n"
          "  -o OUTDIR   folder for the thumbnails; made when missing\n",
          stream);
}

static int parse_number(char option, const char *text, int most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 1 || value > most) {
        fprintf(stderr, "thumbnails: -%c wants a number from 1 to %d, not '%s'\n", option, most, text);
        exit(EXIT_USAGE);
    }
    return (int)value;
}

static int default_threads(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1)
        return 1;
    return processors < MAX_THREADS ? (int)processors : MAX_THREADS;
}

static struct options parse_options(int argc, char **argv)
{
    struct options options = { .threads = default_threads(), .size = DEFAULT_SIZE };
    int option;

    while ((option = getopt(argc, argv, "j:s:o:h")) != -1) {
        switch (option) {
        case 'j':
            options.threads = parse_number('j', optarg, MAX_THREADS);
            break;
        case 's':
            options.size = parse_number('s', optarg, MAX_SIZE);
            break;
        case 'o':
            options.directory = optarg;
            break;
        case 'h':
            print_usage(stdout);
            exit(EXIT_SUCCESS);
        default:
            print_usage(stderr);
            exit(EXIT_USAGE);
        }
    }
    options.sources = argv + optind;
    options.source_count = argc - optind;
    if (options.directory == NULL || options.source_count == 0) {
        print_usage(stderr);
        exit(EXIT_USAGE);
    }
    return options;
}

static bool make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "thumbnails: %s: %s\n", path, strerror(errno));
    return false;
}

int main(int argc, char **argv)
{
    struct options options = parse_options(argc, argv);
    if (!make_directory(options.directory))
        return EXIT_FAILURE;

    struct job *jobs = plan_jobs(&options);
    if (jobs == NULL) {
        fputs("thumbnails: out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    bool all_well = make_thumbnails(&options, jobs);
    free_jobs(jobs, options.source_count);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "thumbnails: standard output: %s\n", strerror(errno));
        all_well = false;
    }
    return all_well ? EXIT_SUCCESS : EXIT_FAILURE;
}
