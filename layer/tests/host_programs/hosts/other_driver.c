// A driver with a platform and a device that do nothing: what a program may have besides kassay's.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <string.h>

struct object { cl_icd_dispatch *table; };
static cl_icd_dispatch table;
static struct object the_platform = {&table}, the_device = {&table}, the_context = {&table};

static cl_int answer(const void *bytes, size_t length, size_t size, void *value, size_t *size_ret) {
  if (size_ret) *size_ret = length;
  if (value && size < length) return CL_INVALID_VALUE;
  if (value) memcpy(value, bytes, length);
  return CL_SUCCESS;
}

static cl_int text(const char *string, size_t size, void *value, size_t *size_ret) {
  return answer(string, strlen(string) + 1, size, value, size_ret);
}

static cl_int CL_API_CALL about_platform(cl_platform_id of, cl_platform_info what, size_t size, void *value, size_t *size_ret) {
  (void)of;
  switch (what) {
    case CL_PLATFORM_NAME: return text("other", size, value, size_ret);
    case CL_PLATFORM_VERSION: return text("OpenCL 3.0 other", size, value, size_ret);
    case CL_PLATFORM_EXTENSIONS: return text("cl_khr_icd", size, value, size_ret);
    case CL_PLATFORM_ICD_SUFFIX_KHR: return text("OTHER", size, value, size_ret);
    default: return text("", size, value, size_ret);
  }
}

static cl_int CL_API_CALL devices(cl_platform_id of, cl_device_type type, cl_uint room, cl_device_id *found, cl_uint *count) {
  (void)of;
  // A loader that counts devices puts platforms with fewer of them after others.
  if (type != CL_DEVICE_TYPE_ALL && !(type & CL_DEVICE_TYPE_DEFAULT)) return CL_DEVICE_NOT_FOUND;
  if (found && room) *found = (cl_device_id)&the_device;
  if (count) *count = 1;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL about_device(cl_device_id of, cl_device_info what, size_t size, void *value, size_t *size_ret) {
  cl_platform_id platform = (cl_platform_id)&the_platform;
  (void)of;
  if (what == CL_DEVICE_PLATFORM) return answer(&platform, sizeof platform, size, value, size_ret);
  return text(what == CL_DEVICE_NAME ? "other device" : "", size, value, size_ret);
}

static cl_context CL_API_CALL context_from_type(const cl_context_properties *properties, cl_device_type type,
                                                void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
                                                cl_int *error) {
  (void)properties, (void)type, (void)notify, (void)data;
  if (error) *error = CL_SUCCESS;
  return (cl_context)&the_context;
}

static cl_int CL_API_CALL about_context(cl_context of, cl_context_info what, size_t size, void *value, size_t *size_ret) {
  cl_device_id device = (cl_device_id)&the_device;
  (void)of;
  return what == CL_CONTEXT_DEVICES ? answer(&device, sizeof device, size, value, size_ret) : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL release(cl_context context) {
  (void)context;
  return CL_SUCCESS;
}

cl_int clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *found, cl_uint *count) {
  table.clGetPlatformInfo = about_platform;
  table.clGetDeviceIDs = devices;
  table.clGetDeviceInfo = about_device;
  table.clCreateContextFromType = context_from_type;
  table.clGetContextInfo = about_context;
  table.clReleaseContext = release;
  if (found && room) *found = (cl_platform_id)&the_platform;
  if (count) *count = 1;
  return CL_SUCCESS;
}

// The program's loader has a function of this name, too, which is the one that its table must not have.
cl_int clGetPlatformInfo(cl_platform_id of, cl_platform_info what, size_t size, void *value, size_t *size_ret) {
  return about_platform(of, what, size, value, size_ret);
}

void *clGetExtensionFunctionAddress(const char *name) {
  return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void *)clIcdGetPlatformIDsKHR : NULL;
}
