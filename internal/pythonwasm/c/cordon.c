/* CPython as a library inside of WebAssembly: what cordon calls, and what it is
 * asked. Built by scripts/python-wasm.
 *
 *   host                                 this module
 *   ────                                 ───────────
 *   _initialize()                        the C library
 *   cordon_init(hash seed)               the interpreter
 *   cordon_boot(source)                  cordon's own Python, which calls
 *                                        _cordon.serve(callable)
 *   ── the host copies the memory here; later instances begin with a copy ──
 *   cordon_call(request)                 callable(request)
 *     ask(question) → length    ◄──        _cordon.ask(question)
 *     answer(address)           ◄──
 *                               ──►      the reply, as an address and a length
 *
 * A copy of the memory has to be all there is to know, so nothing is kept anywhere
 * else: between two calls the stack pointer is where it was in the beginning, and
 * the table of functions never changes. No file is open between calls either.
 *
 * What the host gives has to be in memory of cordon_alloc, and belongs to this
 * module afterwards.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(#name), used))
#define IMPORT(name) __attribute__((import_module("cordon"), import_name(#name)))

/* The host reads a question, and returns the length of its answer, or a negative
 * number if it has none. It keeps the answer until it is fetched, or until the next
 * question. */
IMPORT(ask) int32_t host_ask(const char *question, uint32_t length);
IMPORT(answer) void host_answer(char *to);

static PyObject *boot;   /* the module of cordon's own Python; in no list of modules */
static PyObject *served; /* what calls go to */
static PyObject *reply;  /* what the last call returned: the host still reads it */
static int booting;

static PyObject *
cordon_serve(PyObject *Py_UNUSED(module), PyObject *callable)
{
    /* Later it is the guest that would call this. */
    if (!booting) {
        PyErr_SetString(PyExc_RuntimeError, "serve() is for the time of cordon_boot()");
        return NULL;
    }
    if (!PyCallable_Check(callable)) {
        PyErr_SetString(PyExc_TypeError, "serve() needs a callable");
        return NULL;
    }
    Py_INCREF(callable);
    Py_XSETREF(served, callable);
    Py_RETURN_NONE;
}

static PyObject *
cordon_ask(PyObject *Py_UNUSED(module), PyObject *question)
{
    Py_buffer view;
    if (PyObject_GetBuffer(question, &view, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    int32_t length = host_ask(view.buf, (uint32_t)view.len);
    PyBuffer_Release(&view);
    if (length < 0) {
        return PyErr_Format(PyExc_RuntimeError, "the host has no answer (%d)", (int)length);
    }
    PyObject *answer = PyBytes_FromStringAndSize(NULL, length);
    if (answer != NULL) {
        host_answer(PyBytes_AS_STRING(answer));
    }
    return answer;
}

static PyMethodDef methods[] = {
    {"serve", cordon_serve, METH_O, PyDoc_STR("serve(callable): calls of the host go to it, bytes to bytes")},
    {"ask", cordon_ask, METH_O, PyDoc_STR("ask(question) -> answer of the host, both bytes")},
    {NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_cordon",
    .m_size = 0,
    .m_methods = methods,
};

static PyObject *
make_module(void)
{
    return PyModuleDef_Init(&definition);
}

/* complain prints the current exception. PyErr_Print would end everything at a
 * SystemExit, and would ask sys.excepthook, which is the guest's. */
static void
complain(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (type == NULL) {
        return;
    }
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    PyErr_Display(type, value, traceback);
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

/* take makes bytes of what the host gave. */
static PyObject *
take(char *given, uint32_t length)
{
    PyObject *bytes = PyBytes_FromStringAndSize(given, length);
    free(given);
    return bytes;
}

/* cordon_alloc returns 0 when there is no memory. */
EXPORT(cordon_alloc) void *
cordon_alloc(uint32_t length)
{
    return malloc(length);
}

static PyStatus
configure(PyConfig *config, uint32_t hash_seed)
{
    /* Not random: the seed is part of every dict in the copies of the memory. The
     * host chooses it, and may choose another one for another copy. */
    config->use_hash_seed = 1;
    config->hash_seed = hash_seed;
    config->site_import = 0;
    config->install_signal_handlers = 0;
    config->write_bytecode = 0;
    config->buffered_stdio = 1;
    config->pathconfig_warnings = 0;

    /* Everything that CPython would otherwise look for in files. */
    struct {
        wchar_t **setting;
        const wchar_t *value;
    } settings[] = {
        {&config->program_name, L"python3"},
        {&config->executable, L""},
        {&config->base_executable, L""},
        {&config->home, L"/"},
        {&config->prefix, L"/"},
        {&config->base_prefix, L"/"},
        {&config->exec_prefix, L"/"},
        {&config->base_exec_prefix, L"/"},
        {&config->stdlib_dir, L"/lib/python311.zip"},
        {NULL, NULL},
    };
    for (int i = 0; settings[i].setting != NULL; i++) {
        PyStatus status = PyConfig_SetString(config, settings[i].setting, settings[i].value);
        if (PyStatus_Exception(status)) {
            return status;
        }
    }
    config->module_search_paths_set = 1;
    return PyWideStringList_Append(&config->module_search_paths, L"/lib/python311.zip");
}

static int
failed(PyStatus status, int number)
{
    fprintf(stderr, "cordon: python cannot start: %s\n", status.err_msg ? status.err_msg : "no reason given");
    return number;
}

/* cordon_init returns 0, or the number of the step that failed. */
EXPORT(cordon_init) int32_t
cordon_init(uint32_t hash_seed)
{
    if (PyImport_AppendInittab("_cordon", make_module) < 0) {
        return failed(PyStatus_NoMemory(), 1);
    }
    PyPreConfig before;
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    PyStatus status = Py_PreInitialize(&before);
    if (PyStatus_Exception(status)) {
        return failed(status, 2);
    }
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    status = configure(&config, hash_seed);
    if (PyStatus_Exception(status)) {
        return failed(status, 3);
    }
    status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) {
        return failed(status, 4);
    }
    return 0;
}

/* run_boot runs cordon's own Python in a module that no guest finds by its name. */
static int
run_boot(PyObject *source)
{
    char *text;
    /* It fails for a zero byte inside, too, where the compiler would stop in silence. */
    if (PyBytes_AsStringAndSize(source, &text, NULL) < 0) {
        return -1;
    }
    PyObject *code = Py_CompileString(text, "<cordon>", Py_file_input);
    if (code == NULL) {
        return -1;
    }
    PyObject *result = NULL;
    boot = PyModule_New("__cordon__");
    if (boot != NULL && PyModule_AddObjectRef(boot, "__builtins__", PyEval_GetBuiltins()) == 0) {
        PyObject *globals = PyModule_GetDict(boot);
        result = PyEval_EvalCode(code, globals, globals);
    }
    Py_DECREF(code);
    if (result == NULL) {
        return -1;
    }
    Py_DECREF(result);
    if (served == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the boot code did not call _cordon.serve()");
        return -1;
    }
    return 0;
}

/* freeze_heap collects what the boot left behind, and tells the collector to leave the rest
 * alone: a collection that walks through it would write to nearly every page, and each
 * of them would become the instance's own. */
static int
freeze_heap(void)
{
    PyObject *gc = PyImport_ImportModule("gc");
    if (gc == NULL) {
        return -1;
    }
    PyObject *collected = PyObject_CallMethod(gc, "collect", NULL);
    PyObject *frozen = collected ? PyObject_CallMethod(gc, "freeze", NULL) : NULL;
    Py_DECREF(gc);
    Py_XDECREF(collected);
    Py_XDECREF(frozen);
    return frozen == NULL ? -1 : 0;
}

/* cordon_boot runs cordon's own Python, in UTF-8. It returns 0, or the number of the
 * step that failed, after a traceback on stderr. */
EXPORT(cordon_boot) int32_t
cordon_boot(char *given, uint32_t length)
{
    PyObject *source = take(given, length);
    int failure = 0;
    if (source == NULL) {
        failure = 1;
    } else {
        booting = 1;
        if (run_boot(source) < 0) {
            failure = 2;
        }
        booting = 0;
        Py_DECREF(source);
        if (!failure && freeze_heap() < 0) {
            failure = 3;
        }
    }
    complain();
    return failure;
}

/* cordon_call gives a request to what is served, and returns where the address and
 * the length of the reply are. Both are 0 after an exception, whose traceback is on
 * stderr. The reply stays until the next call. */
EXPORT(cordon_call) const uint32_t *
cordon_call(char *given, uint32_t length)
{
    static uint32_t place[2];
    place[0] = place[1] = 0;
    Py_CLEAR(reply);
    PyObject *request = take(given, length);
    if (request != NULL && served != NULL) {
        reply = PyObject_CallOneArg(served, request);
    }
    Py_XDECREF(request);
    if (reply != NULL && !PyBytes_Check(reply)) {
        PyErr_Format(PyExc_TypeError, "what is served returned %.100s, not bytes", Py_TYPE(reply)->tp_name);
        Py_CLEAR(reply);
    }
    if (reply != NULL) {
        place[0] = (uint32_t)(uintptr_t)PyBytes_AS_STRING(reply);
        place[1] = (uint32_t)PyBytes_GET_SIZE(reply);
    }
    complain();
    return place;
}
