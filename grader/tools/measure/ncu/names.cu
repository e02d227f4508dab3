// Kernels whose names show how Nsight Compute writes names: run under ncu, one launch each.
//
// Each is launched by its own <<<>>>, in the order of main().
#include <cstddef>
#include <cstdint>

struct Plain {
  int a, b;
};

enum Colour { red, green };
enum class Mode : unsigned char { slow, quick };

namespace geo {
template <class T>
struct Point {
  T x, y;
};
template <class T>
struct Plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
__global__ void move(Point<float>* p, const Point<double>& by) { p->x += float(by.x) * 0; }
namespace inner {
template <class T>
__global__ void both(T* a, const T* b) {
  a[0] = b[0];
}
}  // namespace inner
}  // namespace geo

namespace one {
struct S {};
template <class T>
__global__ void deep_1(T* p) {
  *p = 0;
}
__global__ void flat_1(int* p) { *p = 0; }
namespace two {
struct S {};
template <class T>
struct Box {
  T t;
};
template <class T>
__global__ void deep_2(T* p, S* s) {
  *p = 0;
}
__global__ void flat_2(int* p, S s) { *p = 0; }
namespace three {
template <class T>
__global__ void deep_3(T* p, one::two::S* s, const Box<T> box) {
  *p = 0;
}
__global__ void flat_3(int* p, one::two::S s, const Box<Box<int>>& box) { *p = 0; }
}  // namespace three
namespace {
template <class T>
__global__ void deep_hidden(T* p) {
  *p = 0;
}
__global__ void flat_hidden(int* p) { *p = 0; }
}  // namespace
}  // namespace two
}  // namespace one

namespace {
__global__ void hidden(int* p) { *p = 0; }
template <class T>
__global__ void hidden_template(T* p) {
  *p = 0;
}
}  // namespace

extern "C" __global__ void c_name(int* p) { *p = 0; }
__global__ void add(const float* a, const float* b, float* out, int n) { out[0] = a[0] + b[0] * n; }
__global__ void no_arguments() {}
__global__ void integers(signed char a, unsigned char b, char c, short d, unsigned short e, int f,
                         unsigned g, long h, unsigned long i, long long j, unsigned long long k,
                         bool l, size_t m, uint8_t n, int64_t o, uint32_t* p) {}
__global__ void floats(float a, double b, float2 c, const float4* d, volatile float* e) {}
__global__ void pointers(float** a, const float* const* b, float* const* c, const volatile int* d,
                         void* e, const void* f, int (*g)[4], float* __restrict__ h,
                         const float* __restrict__ i) {}
__global__ void structures(Plain a, const Plain* b, Colour c, Mode d) {}
__global__ void functions(int (*f)(int, float*)) {}
__global__ void same_twice(geo::Point<int>* a, geo::Point<int>* b, const geo::Point<int>* c) {}

template <class T>
__global__ void scale(T* p, T by, unsigned long n) {
  *p = T(0) * by;
}
template <class T, class U>
__global__ void convert(const T* from, U* to, int n) {
  *to = U(*from);
}
template <unsigned N>
__global__ void by_unsigned(const int* p, int* q, int n) {
  *q = *p;
}
template <int N>
__global__ void by_int(int* p) {
  *p = 0;
}
template <bool B, char C>
__global__ void by_bool_and_char(int* p) {
  *p = 0;
}
template <size_t N, long long M, short S>
__global__ void by_sizes(int* p) {
  *p = 0;
}
template <Colour C, Mode M>
__global__ void by_enumerators(int* p) {
  *p = 0;
}
template <class T, int N>
__global__ void type_and_int(T (*p)[N], T* q) {
  *q = 0;
}
template <class Op, class T>
__global__ void apply(Op op, T* p) {
  *p = op(*p, T(0));
}
template <template <class> class Holder, class T>
__global__ void held(Holder<T>* p) {
  p->x = 0;
}
template <class... Ts>
__global__ void several(Ts... values) {}
template <class T>
__global__ void of_points(geo::Point<T>* p, const geo::Point<T>* q) {
  p->x = 0;
}
template <int (*F)(int)>
__global__ void by_function(int* p) {
  *p = F(0);
}
__device__ int zero(int) { return 0; }
template <class T>
struct Holder {
  template <class U>
  struct Inner {
    T t;
    U u;
  };
};
template <class T>
__global__ void by_type(int* p) {
  *p = 0;
}
template <unsigned char C, signed char D, unsigned long long E, unsigned short F>
__global__ void by_narrow(int* p) {
  *p = 0;
}
template <class T, class U = int>
struct Pair {};
template <class T>
__global__ void by_nested_value(T t, int* p) {
  *p = 0;
}
template <int N, int M>
struct Shape {};
template <class T>
__global__ void nested(typename Holder<T>::template Inner<float>* p) {}

int main() {
  int* p;
  cudaMalloc(&p, 4096);
  auto* f = reinterpret_cast<float*>(p);
  auto* d = reinterpret_cast<double*>(p);
  auto* point = reinterpret_cast<geo::Point<float>*>(p);
  geo::move<<<1, 32>>>(point, *reinterpret_cast<geo::Point<double>*>(p));
  geo::inner::both<<<1, 32>>>(f, f);
  hidden<<<1, 32>>>(p);
  hidden_template<<<1, 32>>>(f);
  c_name<<<1, 32>>>(p);
  add<<<1, 32>>>(f, f, f, 1);
  no_arguments<<<1, 32>>>();
  integers<<<1, 32>>>(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, 0, 0, 0, nullptr);
  floats<<<1, 32>>>(0, 0, float2{}, nullptr, nullptr);
  pointers<<<1, 32>>>(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                      nullptr);
  structures<<<1, 32>>>(Plain{}, nullptr, red, Mode::slow);
  functions<<<1, 32>>>(nullptr);
  same_twice<<<1, 32>>>(nullptr, nullptr, nullptr);
  scale<<<1, 32>>>(f, 1.0f, 1);
  scale<<<1, 32>>>(d, 1.0, 1);
  convert<<<1, 32>>>(f, d, 1);
  convert<<<1, 32>>>(reinterpret_cast<const float*>(p), f, 1);
  by_unsigned<256><<<1, 32>>>(p, p, 1);
  by_int<-3><<<1, 32>>>(p);
  by_int<16><<<1, 32>>>(p);
  by_bool_and_char<true, 'x'><<<1, 32>>>(p);
  by_sizes<4, -5, 6><<<1, 32>>>(p);
  by_enumerators<green, Mode::quick><<<1, 32>>>(p);
  type_and_int<float, 4><<<1, 32>>>(reinterpret_cast<float(*)[4]>(p), f);
  apply<<<1, 32>>>(geo::Plus<int>{}, p);
  held<geo::Point, float><<<1, 32>>>(point);
  several<<<1, 32>>>(1, 2.0f, f);
  of_points<<<1, 32>>>(point, point);
  by_function<zero><<<1, 32>>>(p);
  nested<int><<<1, 32>>>(nullptr);
  one::deep_1<<<1, 32>>>(p);
  one::flat_1<<<1, 32>>>(p);
  one::two::deep_2<<<1, 32>>>(p, nullptr);
  one::two::flat_2<<<1, 32>>>(p, {});
  one::two::three::deep_3<<<1, 32>>>(f, nullptr, {});
  one::two::three::flat_3<<<1, 32>>>(p, {},
                                     *reinterpret_cast<one::two::Box<one::two::Box<int>>*>(p));
  one::two::deep_hidden<<<1, 32>>>(p);
  one::two::flat_hidden<<<1, 32>>>(p);
  by_type<one::two::S><<<1, 32>>>(p);
  by_type<one::two::Box<one::S>><<<1, 32>>>(p);
  by_type<const float*><<<1, 32>>>(p);
  by_type<unsigned long long><<<1, 32>>>(p);
  by_type<int (*)(int)><<<1, 32>>>(p);
  by_type<float[4]><<<1, 32>>>(p);
  by_type<one::two::Box<float[2][3]>><<<1, 32>>>(p);
  by_narrow<7, -8, 9, 10><<<1, 32>>>(p);
  by_nested_value<<<1, 32>>>(Pair<float>{}, p);
  by_nested_value<<<1, 32>>>(Shape<2, -3>{}, p);
  by_nested_value<<<1, 32>>>(Pair<Shape<4, 5>, one::two::Box<Shape<6, 7>>>{}, p);
  return cudaDeviceSynchronize() != cudaSuccess;
}
