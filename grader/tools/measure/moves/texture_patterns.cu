// Launches one fetch through a texture, or access of a surface, of one warp at a time. Under ncu, each launch
// measures how the hardware counts one pattern. Reads a CSV (op, mask, points; make_patterns.py writes it) and
// launches its rows [FROM, TO) in order.
//
// op is SHAPE:FORMAT[:WORDS], words of linear, mip, wrap, mirror, border, srgb, seamless, aniso. points:
// for each of 32 lanes x, y, z, in texels; for a texture that is an array, the middle of a texel is at
// .5.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

struct Points {
  float at[3][32];
  uint32_t mask;
};

constexpr uint32_t kNever = 0x5bd1e995u;  // a value that no texel and mask produce
constexpr int kWide = 256, kHigh = 256, kLong = 8192, kDeep = 32, kLayers = 4, kFace = 64, kLevels = 4;

#define CHECK(call)                                                                  \
  do {                                                                               \
    if (const cudaError_t e = (call); e != cudaSuccess) {                            \
      std::fprintf(stderr, "texture_patterns: %s: %s\n", #call, cudaGetErrorString(e)); \
      std::exit(2);                                                                  \
    }                                                                                \
  } while (0)

template <class T>
__device__ uint32_t bits(T v) {
  if constexpr (sizeof(T) == 16) return uint32_t(v.x) ^ uint32_t(v.y) ^ uint32_t(v.z) ^ uint32_t(v.w);
  else if constexpr (sizeof(T) == 8) return uint32_t(v.x) ^ uint32_t(v.y);
  else if constexpr (sizeof(T) == 4) return uint32_t(v);
  else return v;
}
template <> __device__ uint32_t bits(uchar4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
template <> __device__ uint32_t bits(char4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
template <> __device__ uint32_t bits(float v) { return __float_as_uint(v); }
template <> __device__ uint32_t bits(float2 v) { return __float_as_uint(v.x) ^ __float_as_uint(v.y); }
template <> __device__ uint32_t bits(float4 v) {
  return __float_as_uint(v.x) ^ __float_as_uint(v.y) ^ __float_as_uint(v.z) ^ __float_as_uint(v.w);
}

enum Shape { kFetch, k1D, k2D, kPitch, k3D, k1DLayers, k2DLayers, kCube, kCubes, kGather, kLevel,
             kGradient, kSurf1D, kSurf2D, kSurf3D, kSurfLayers, kSurf1DLayers, kSurfCube, kStore1D,
             kStore2D, kStore3D, kStoreLayers, kStore1DLayers };

template <int shape, class T>
__global__ void texture(__grid_constant__ const Points p, cudaTextureObject_t t, uint32_t* sink) {
  const uint32_t lane = threadIdx.x;
  const float x = p.at[0][lane], y = p.at[1][lane], z = p.at[2][lane];
  if ((p.mask >> lane & 1) == 0) return;
  uint32_t r = 0;
  if constexpr (shape == kFetch) r = bits(tex1Dfetch<T>(t, int(x)));
  if constexpr (shape == k1D) r = bits(tex1D<T>(t, x));
  if constexpr (shape == k2D) r = bits(tex2D<T>(t, x, y));
  if constexpr (shape == k3D) r = bits(tex3D<T>(t, x, y, z));
  if constexpr (shape == k1DLayers) r = bits(tex1DLayered<T>(t, x, int(z)));
  if constexpr (shape == k2DLayers) r = bits(tex2DLayered<T>(t, x, y, int(z)));
  if constexpr (shape == kCube) r = bits(texCubemap<T>(t, x, y, z));
  if constexpr (shape == kCubes) r = bits(texCubemapLayered<T>(t, x, y, z, int(lane) / 8 % 2));
  if constexpr (shape == kGather) r = bits(tex2Dgather<T>(t, x, y, 1));
  if constexpr (shape == kGradient)
    r = bits(tex2DGrad<T>(t, x, y, make_float2(z, 0), make_float2(0, z)));
  if constexpr (shape == kLevel) r = bits(tex2DLod<T>(t, x, y, z));
  if ((r ^ p.mask) == kNever) *sink = 1;
}

// Reads only the first of a texel's channels.
template <class T>
__global__ void first_channel(__grid_constant__ const Points p, cudaTextureObject_t t, uint32_t* sink) {
  const uint32_t lane = threadIdx.x;
  const float x = p.at[0][lane], y = p.at[1][lane];
  if ((p.mask >> lane & 1) == 0) return;
  if (uint32_t(tex2D<T>(t, x, y).x) == kNever) *sink = 1;
}

template <class T>
__device__ T made_of(uint32_t lane) {
  T v;
  unsigned char* bytes = reinterpret_cast<unsigned char*>(&v);
  for (unsigned i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(lane);
  return v;
}

template <int shape, class T>
__global__ void surface(__grid_constant__ const Points p, cudaSurfaceObject_t s, uint32_t* sink) {
  const uint32_t lane = threadIdx.x;
  const int x = int(p.at[0][lane]) * int(sizeof(T)), y = int(p.at[1][lane]), z = int(p.at[2][lane]);
  if ((p.mask >> lane & 1) == 0) return;
  T v = made_of<T>(lane);
  if constexpr (shape == kSurf1D) v = surf1Dread<T>(s, x);
  if constexpr (shape == kSurf2D) v = surf2Dread<T>(s, x, y, cudaBoundaryModeZero);
  if constexpr (shape == kSurf3D) v = surf3Dread<T>(s, x, y, z);
  if constexpr (shape == kSurfLayers) v = surf2DLayeredread<T>(s, x, y, z);
  if constexpr (shape == kSurf1DLayers) v = surf1DLayeredread<T>(s, x, z);
  if constexpr (shape == kSurfCube) v = surfCubemapread<T>(s, x, y, z);
  if constexpr (shape == kStore1DLayers) surf1DLayeredwrite(v, s, x, z);
  if constexpr (shape == kStore1D) surf1Dwrite(v, s, x);
  if constexpr (shape == kStore2D) surf2Dwrite(v, s, x, y, cudaBoundaryModeZero);
  if constexpr (shape == kStore3D) surf3Dwrite(v, s, x, y, z);
  if constexpr (shape == kStoreLayers) surf2DLayeredwrite(v, s, x, y, z);
  if constexpr (shape < kStore1D)
    if ((bits(v) ^ p.mask) == kNever) *sink = 1;
}

template <class T>
void clear(cudaArray_t array, cudaExtent size) {
  size.height = size.height == 0 ? 1 : size.height;
  size.depth = size.depth == 0 ? 1 : size.depth;
  std::vector<T> zeros(size.width * size.height * size.depth);
  std::memset(zeros.data(), 0, zeros.size() * sizeof(T));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(zeros.data(), size.width * sizeof(T), size.width, size.height);
  copy.dstArray = array;
  copy.extent = size;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
}

void launch_first(const std::string&, const Points& p, uint32_t* sink) {
  static cudaTextureObject_t made = 0;
  if (made == 0) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uint4>();
    cudaResourceDesc from{};
    cudaTextureDesc how{};
    from.resType = cudaResourceTypeArray;
    CHECK(cudaMallocArray(&from.res.array.array, &format, kWide, kHigh));
    clear<uint4>(from.res.array.array, make_cudaExtent(kWide, kHigh, 1));
    for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&made, &from, &how, nullptr));
  }
  first_channel<uint4><<<1, 32>>>(p, made, sink);
}

// The type of a kernel's texels in memory (T), and of a fetch's result (R).
struct Format {
  cudaChannelFormatDesc channels;
  bool normalized = false;  // integers are read as floats from 0 to 1
};

// Objects live until the end of the program: they are few and take few megabytes.
template <int shape, class T, class R = T>
void launch(const Format& format, const std::string& words, const Points& p, uint32_t* sink) {
  static std::map<std::string, uint64_t> made;
  const auto has = [&](const char* word) { return words.find(word) != std::string::npos; };
  constexpr bool stores = shape >= kSurf1D;
  const bool by_size = has("wrap") || has("mirror") || has("aniso") || shape == kLevel;
  uint64_t& object = made[words];
  cudaResourceDesc from{};
  if (object == 0) {
    cudaTextureDesc how{};
    for (auto& mode : how.addressMode)
      mode = has("wrap")     ? cudaAddressModeWrap
             : has("mirror") ? cudaAddressModeMirror
             : has("border") ? cudaAddressModeBorder
                             : cudaAddressModeClamp;
    how.filterMode = has("linear") ? cudaFilterModeLinear : cudaFilterModePoint;
    how.mipmapFilterMode = has("mip") ? cudaFilterModeLinear : cudaFilterModePoint;
    how.readMode = format.normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    how.maxMipmapLevelClamp = kLevels;
    how.normalizedCoords = by_size;
    how.sRGB = has("srgb");
    how.seamlessCubemap = has("seamless");
    how.maxAnisotropy = has("aniso") ? 16 : 0;
    cudaArray_t array;
    if constexpr (shape == kFetch) {
      void* memory;
      CHECK(cudaMalloc(&memory, kLong * sizeof(T)));
      CHECK(cudaMemset(memory, 0, kLong * sizeof(T)));
      from.resType = cudaResourceTypeLinear;
      from.res.linear.devPtr = memory;
      from.res.linear.desc = format.channels;
      from.res.linear.sizeInBytes = kLong * sizeof(T);
    } else if constexpr (shape == kPitch) {
      void* memory;
      size_t pitch;
      CHECK(cudaMallocPitch(&memory, &pitch, kWide * sizeof(T), kHigh));
      CHECK(cudaMemset(memory, 0, pitch * kHigh));
      from.resType = cudaResourceTypePitch2D;
      from.res.pitch2D.devPtr = memory;
      from.res.pitch2D.desc = format.channels;
      from.res.pitch2D.width = kWide;
      from.res.pitch2D.height = kHigh;
      from.res.pitch2D.pitchInBytes = pitch;
    } else if constexpr (shape == kLevel) {
      cudaMipmappedArray_t levels;
      CHECK(cudaMallocMipmappedArray(&levels, &format.channels, make_cudaExtent(kWide, kHigh, 0),
                                     kLevels));
      for (unsigned l = 0; l < kLevels; ++l) {
        CHECK(cudaGetMipmappedArrayLevel(&array, levels, l));
        clear<T>(array, make_cudaExtent(kWide >> l, kHigh >> l, 0));
      }
      from.resType = cudaResourceTypeMipmappedArray;
      from.res.mipmap.mipmap = levels;
    } else {
      cudaExtent size = make_cudaExtent(kWide, kHigh, 0);
      unsigned flags = stores ? cudaArraySurfaceLoadStore : 0;
      if (shape == k1D || shape == kSurf1D || shape == kStore1D) size = make_cudaExtent(kLong, 0, 0);
      if (shape == k3D || shape == kSurf3D || shape == kStore3D)
        size = make_cudaExtent(64, 64, kDeep);
      if (shape == k2DLayers || shape == kSurfLayers || shape == kStoreLayers) {
        size = make_cudaExtent(kWide, 64, kLayers);
        flags |= cudaArrayLayered;
      }
      if (shape == k1DLayers || shape == kSurf1DLayers || shape == kStore1DLayers) {
        size = make_cudaExtent(kLong, 0, kLayers);
        flags |= cudaArrayLayered;
      }
      if (shape == kCube || shape == kCubes || shape == kSurfCube) {
        size = make_cudaExtent(kFace, kFace, shape == kCubes ? 12 : 6);
        flags |= cudaArrayCubemap | (shape == kCubes ? cudaArrayLayered : 0);
      }
      if (shape == kGather) flags |= cudaArrayTextureGather;
      CHECK(cudaMalloc3DArray(&array, &format.channels, size, flags));
      if (size.height == 0) size.height = 1;
      clear<T>(array, size);
      from.resType = cudaResourceTypeArray;
      from.res.array.array = array;
    }
    if constexpr (stores) {
      cudaSurfaceObject_t surface;
      CHECK(cudaCreateSurfaceObject(&surface, &from));
      object = surface;
    } else {
      cudaTextureObject_t texture;
      CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
      object = texture;
    }
  }
  Points q = p;
  if (by_size)
    for (int l = 0; l < 32; ++l) {
      q.at[0][l] /= kWide;
      q.at[1][l] /= kHigh;
    }
  constexpr int kind = shape == kPitch ? k2D : shape;
  if constexpr (stores)
    surface<shape, T><<<1, 32>>>(q, object, sink);
  else
    texture<kind, R><<<1, 32>>>(q, object, sink);
}

template <int shape>
bool launch_format(const std::string& format, const std::string& words, const Points& p,
                   uint32_t* sink) {
  const auto is = [&](const char* name) { return format == name; };
#define FORMAT(name, T, R, channels, normalized) \
  if (is(name)) return launch<shape, T, R>({channels, normalized}, words, p, sink), true
#define PLAIN(name, T) FORMAT(name, T, T, cudaCreateChannelDesc<T>(), false)
  if constexpr (shape == kGather) {
    FORMAT("f32", float, float4, cudaCreateChannelDesc<float>(), false);
    FORMAT("f32x4", float4, float4, cudaCreateChannelDesc<float4>(), false);
    FORMAT("u8x4", uchar4, uchar4, cudaCreateChannelDesc<uchar4>(), false);
    FORMAT("u8x4n", uchar4, float4, cudaCreateChannelDesc<uchar4>(), true);
    return false;
  } else {
    PLAIN("f32", float);
    PLAIN("f32x4", float4);
  }
  if constexpr (shape == k2D) {
    if (is("first")) return launch_first(words, p, sink), true;
    FORMAT("u8n", unsigned char, float, cudaCreateChannelDesc<unsigned char>(), true);
    FORMAT("u8x2n", uchar2, float2, cudaCreateChannelDesc<uchar2>(), true);
    FORMAT("u8x4n", uchar4, float4, cudaCreateChannelDesc<uchar4>(), true);
    FORMAT("u16x2n", ushort2, float2, cudaCreateChannelDesc<ushort2>(), true);
    FORMAT("s16x4n", short4, float4, cudaCreateChannelDesc<short4>(), true);
    FORMAT("f16", unsigned short, float, cudaCreateChannelDescHalf(), false);
    FORMAT("f16x2", ushort2, float2, cudaCreateChannelDescHalf2(), false);
    FORMAT("f16x4", ushort4, float4, cudaCreateChannelDescHalf4(), false);
    PLAIN("s32x2", int2);
    PLAIN("s8x4", char4);
  }
  if constexpr (shape == k3D) FORMAT("u8n", unsigned char, float, cudaCreateChannelDesc<unsigned char>(), true);
  if constexpr (shape == kFetch || shape == k2D || shape == kPitch || shape == kSurf2D ||
                shape == kStore2D || shape == k3D || shape == k2DLayers || shape == k1D ||
                shape == kSurf1D || shape == kStore1D || shape == kSurf3D || shape == kStore3D ||
                shape == kSurfLayers || shape == kStoreLayers) {
    PLAIN("u8", unsigned char);
    PLAIN("u16", unsigned short);
    PLAIN("f32x2", float2);
    PLAIN("u8x4", uchar4);
  }
  return false;
}

bool launch_op(const std::string& op, const Points& p, uint32_t* sink) {
  std::istringstream words(op);
  std::string shape, format, filter;
  std::getline(words, shape, ':');
  std::getline(words, format, ':');
  std::getline(words, filter, ':');
#define SHAPE(name, which) \
  if (shape == name) return launch_format<which>(format, filter, p, sink)
  SHAPE("fetch", kFetch);
  SHAPE("tex1", k1D);
  SHAPE("tex2", k2D);
  SHAPE("pitch", kPitch);
  SHAPE("tex3", k3D);
  SHAPE("layers1", k1DLayers);
  SHAPE("layers2", k2DLayers);
  SHAPE("cube", kCube);
  SHAPE("cubes", kCubes);
  SHAPE("grad", kGradient);
  SHAPE("gather", kGather);
  SHAPE("level", kLevel);
  SHAPE("suld1", kSurf1D);
  SHAPE("suld2", kSurf2D);
  SHAPE("suld3", kSurf3D);
  SHAPE("suldl", kSurfLayers);
  SHAPE("suldl1", kSurf1DLayers);
  SHAPE("suldc", kSurfCube);
  SHAPE("sustl1", kStore1DLayers);
  SHAPE("sust1", kStore1D);
  SHAPE("sust2", kStore2D);
  SHAPE("sust3", kStore3D);
  SHAPE("sustl", kStoreLayers);
  return false;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: texture_patterns PATTERNS.csv FROM TO\n");
    return 2;
  }
  const long from = std::atol(argv[2]), to = std::atol(argv[3]);
  uint32_t* sink;
  CHECK(cudaMalloc(&sink, 4));
  std::ifstream in(argv[1]);
  std::string line;
  long row = 0;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#' || line.rfind("op,", 0) == 0) continue;
    if (row++ < from || row > to) continue;
    std::istringstream fields(line);
    std::string op, mask, points;
    std::getline(fields, op, ',');
    std::getline(fields, mask, ',');
    std::getline(fields, points, ',');
    Points p{};
    p.mask = uint32_t(std::strtoul(mask.c_str(), nullptr, 16));
    std::istringstream list(points);
    for (int l = 0; l < 32; ++l) list >> p.at[0][l] >> p.at[1][l] >> p.at[2][l];
    if (!list || !launch_op(op, p, sink)) {
      std::fprintf(stderr, "texture_patterns: bad row: %s\n", line.c_str());
      return 2;
    }
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  return 0;
}
