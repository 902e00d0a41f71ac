// The codec of a video according to its container, and whether a manifest names the same one. Codec and profile are
// compared. The level and the constraints in the name are the encoder's choice, made after the app requested them.

export interface Codec {
  /** The sample entry (ISO/IEC 14496-12) or the codec's id (WebM). */
  name: string
  profile: number | null
  /** For H.264 the three bytes at the end of its name (RFC 6381). */
  parameters: string | null
}

type Family = 'avc' | 'hevc' | 'vp8' | 'vp9' | 'av1'

const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ...(['avc1', 'avc2', 'avc3', 'avc4', 'dva1', 'dvav', 'h264', 'v_mpeg4/iso/avc'] as const).map(
    (name) => [name, 'avc'] as const,
  ),
  ...(['hvc1', 'hev1', 'dvh1', 'dvhe', 'h265', 'hevc', 'v_mpegh/iso/hevc'] as const).map(
    (name) => [name, 'hevc'] as const,
  ),
  ...(['vp8', 'vp08', 'v_vp8'] as const).map((name) => [name, 'vp8'] as const),
  ...(['vp9', 'vp09', 'v_vp9'] as const).map((name) => [name, 'vp9'] as const),
  ...(['av1', 'av01', 'v_av1'] as const).map((name) => [name, 'av1'] as const),
])

// RFC 6386 9.1: `show_frame`, the fifth bit of a frame of VP8.
const VP8_SHOW_FRAME = 0x10

/** The part of a codec's name after its first full stop: the profile. */
const PROFILES: Readonly<Record<Family, { pattern: RegExp; radix: number }>> = {
  avc: { pattern: /^([0-9a-f]{2})[0-9a-f]{4}$/, radix: 16 },
  hevc: { pattern: /^[abc]?(\d{1,2})(?:\.|$)/, radix: 10 },
  vp8: { pattern: /^(\d{1,2})(?:\.|$)/, radix: 10 },
  vp9: { pattern: /^(\d{1,2})(?:\.|$)/, radix: 10 },
  av1: { pattern: /^(\d)(?:\.|$)/, radix: 10 },
}

/** How many bytes of a decoder configuration are read. */
export const CONFIGURATION_BYTES = 5

/** The sample entries that are entered for their decoder configuration, and the type of its box. */
export const CONFIGURATIONS: ReadonlyMap<string, string> = new Map([
  ...(['avc1', 'avc2', 'avc3', 'avc4', 'dva1', 'dvav'] as const).map((name) => [name, 'avcC'] as const),
  ...(['hvc1', 'hev1', 'dvh1', 'dvhe'] as const).map((name) => [name, 'hvcC'] as const),
  ...(['vp08', 'vp09'] as const).map((name) => [name, 'vpcC'] as const),
  ['av01', 'av1C'] as const,
])

/** @param configuration at least its first 4 bytes, 5 for VP8 and VP9; a shorter one is ignored. */
export function codecOf(name: string, configuration?: Buffer): Codec {
  const none = { name, profile: null, parameters: null }
  const family = FAMILIES.get(name.toLowerCase())
  if (configuration === undefined || configuration.length < 4 || family === undefined) return none
  const second = configuration.readUInt8(1)
  // ISO/IEC 14496-15 5.3.3.1: version, profile, compatibility, level.
  if (family === 'avc') return { name, profile: second, parameters: configuration.toString('hex', 1, 4).toUpperCase() }
  // 8.3.3.1: two bits of profile space, the tier, five bits of profile.
  if (family === 'hevc') return { ...none, profile: second & 0x1f }
  if (family === 'av1') return { ...none, profile: second >> 5 }
  // VP codec ISO media file format binding: a full box, which begins with version and flags. WebM has another
  // structure.
  const isFull = name.startsWith('vp0') && configuration.length >= 5
  return isFull ? { ...none, profile: configuration.readUInt8(4) } : none
}

/**
 * Whether decoders keep the frame that begins with this byte as a reference and never show it. Among WebM's codecs only
 * VP8 stores such frames in blocks of their own; VP9 and AV1 store them together with a frame that is shown.
 */
export function isHiddenFrame({ name }: Codec, firstByte: number | undefined): boolean {
  const isVp8 = FAMILIES.get(name.toLowerCase()) === 'vp8'
  return isVp8 && firstByte !== undefined && (firstByte & VP8_SHOW_FRAME) === 0
}

export function describeCodec({ name, profile, parameters }: Codec): string {
  if (parameters !== null) return `${name}.${parameters}`
  return profile === null ? name : `${name}, profile ${profile}`
}

/** Whether a manifest's codec name matches this codec, and its profile if it names one. */
export function isSameCodec(stated: string, codec: Codec): boolean {
  const text = stated.toLowerCase()
  const known = FAMILIES.get(codec.name.toLowerCase())
  const [name = ''] = text.split('.', 1)
  if (known === undefined) return text === codec.name.toLowerCase() || name === codec.name.toLowerCase()
  if (FAMILIES.get(name) !== known) return false
  if (codec.profile === null || text === name) return true
  const { pattern, radix } = PROFILES[known]
  const profile = pattern.exec(text.slice(name.length + 1))?.[1]
  return profile !== undefined && Number.parseInt(profile, radix) === codec.profile
}
