// Finds what an image declares about its making in untrusted texts: XMP, PNG texts, EXIF. Searches for known words in a
// bounded part of each, and parses neither XML nor JSON.

import type { Metadata } from 'sharp'
import { quote } from '#src/platform/sanitize.ts'
import type { DeclaredFacts, GeneratorTrace } from './declared.ts'
import type { ExifFacts } from './exif.ts'

// The standard part of XMP in a JPEG fits into one segment of 64 KiB; prompts of generators are a few KiB.
const MAX_XMP_BYTES = 256 * 1024
const MAX_TEXT_CHARACTERS = 64 * 1024
const MAX_TEXTS = 64
const MAX_FOUND = 16
// The length of a URL in XMP; a longer one is no source type.
const MAX_VALUE = 1_024

/** @param userComment EXIF UserComment as stored: eight bytes of character code, then the text. */
export function readDeclared(
  { comments = [], xmp }: { comments?: Metadata['comments']; xmp?: Buffer | undefined },
  exif: ExifFacts,
  userComment: Buffer | null,
): DeclaredFacts {
  const packet = xmp?.toString('utf8', 0, MAX_XMP_BYTES) ?? ''
  const texts = comments.slice(0, MAX_TEXTS)
  return {
    sourceTypes: SOURCE_TYPES.flatMap((name) =>
      valuesIn(packet, name).map((value) => ({ where: 'xmp' as const, field: `Iptc4xmpExt:${name}`, value })),
    ),
    generators: [...tracesInTexts(texts), ...tracesInExif(exif, userComment), ...tracesInXmp(packet)].slice(
      0,
      MAX_FOUND,
    ),
    manifestReference: valuesIn(packet, 'provenance')[0] ?? null,
  }
}

// The IPTC published the second name by mistake, and programs write it.
const SOURCE_TYPES = ['DigitalSourceType', 'DigitalSourceFileType']

type Text = { keyword: string; text: string }

/** PNG keywords that only one generator writes. */
const OWN_KEYWORDS: ReadonlyMap<string, string> = new Map([
  ['Dream', 'InvokeAI'],
  ['sd-metadata', 'InvokeAI'],
  ['invokeai_metadata', 'InvokeAI'],
  ['invokeai_graph', 'InvokeAI'],
  ['invokeai_workflow', 'InvokeAI'],
  ['fooocus_scheme', 'Fooocus'],
  ['generation_data', 'ComfyUI'],
])

/** PNG keywords that hold a name and no prompt. */
const NAMING: ReadonlySet<string> = new Set(['Title', 'Software', 'Source', 'Creator'])

/** Names in fields about the software; lower case. */
const NAMES: readonly (readonly [string, string])[] = [
  ['novelai', 'NovelAI'],
  ['stable diffusion', 'Stable Diffusion'],
  ['midjourney', 'Midjourney'],
  ['dall-e', 'DALL-E'],
  ['dall·e', 'DALL-E'],
  ['adobe firefly', 'Adobe Firefly'],
  ['invokeai', 'InvokeAI'],
  ['comfyui', 'ComfyUI'],
  ['fooocus', 'Fooocus'],
  ['automatic1111', 'AUTOMATIC1111'],
  ['dreamstudio', 'DreamStudio'],
  ['made with google ai', 'Google'],
  ['bing image creator', 'Bing Image Creator'],
]

function tracesInTexts(texts: readonly Text[]): GeneratorTrace[] {
  const keywords = new Set(texts.map(({ keyword }) => keyword))
  return texts.flatMap(({ keyword, text: whole }): GeneratorTrace[] => {
    const text = whole.slice(0, MAX_TEXT_CHARACTERS)
    const generator = generatorOfText(keyword, text, keywords)
    if (generator === undefined) return []
    const value = NAMING.has(keyword) ? quote(text) : null
    return [{ where: 'png_text', field: quote(keyword) ?? '', value, generator }]
  })
}

function generatorOfText(keyword: string, text: string, keywords: ReadonlySet<string>): string | undefined {
  const own = OWN_KEYWORDS.get(keyword)
  if (own !== undefined) return own
  switch (keyword) {
    case 'parameters':
      if (keywords.has('fooocus_scheme')) return 'Fooocus'
      if (text.includes('"sui_image_params"')) return 'SwarmUI'
      return isParameters(text) ? 'AUTOMATIC1111' : undefined
    case 'prompt':
      return isNodeGraph(text) ? 'ComfyUI' : undefined
    case 'workflow':
      return text.includes('"nodes"') && text.includes('"links"') ? 'ComfyUI' : undefined
    case 'Title':
      return /^(ai|novelai) generated image$/i.test(text.slice(0, 40).trim()) ? 'NovelAI' : undefined
    case 'Software':
    case 'Source':
    case 'Creator':
      return nameIn(text)
    case 'Description':
      return /\bJob ID: [0-9a-f-]{36}/.test(text) ? 'Midjourney' : undefined
    default:
      return undefined
  }
}

// What AUTOMATIC1111 and its successors write below the prompt.
const isParameters = (text: string): boolean => /\bSteps: \d+, /.test(text) && /\b(Sampler|CFG scale|Seed): /.test(text)

const isNodeGraph = (text: string): boolean => text.includes('"class_type"') && text.includes('"inputs"')

function nameIn(text: string): string | undefined {
  const lower = text.slice(0, MAX_VALUE).toLowerCase()
  return NAMES.find(([name]) => lower.includes(name))?.[1]
}

function tracesInExif(exif: ExifFacts, userComment: Buffer | null): GeneratorTrace[] {
  const comment = userComment === null ? '' : decodeComment(userComment)
  const traces: GeneratorTrace[] = []
  if (isParameters(comment)) traces.push(inExif('UserComment', null, 'AUTOMATIC1111'))
  if (exif.state !== 'read') return traces
  const { software, make, model } = exif
  const named = software === null ? undefined : nameIn(software)
  if (software !== null && named !== undefined) traces.push(inExif('Software', software, named))
  // ComfyUI stores its graph in the camera tags of a WebP.
  if (make?.startsWith('workflow:{')) traces.push(inExif('Make', null, 'ComfyUI'))
  if (model?.startsWith('prompt:{')) traces.push(inExif('Model', null, 'ComfyUI'))
  return traces
}

const inExif = (field: string, text: string | null, generator: string): GeneratorTrace => ({
  where: 'exif',
  field,
  value: text === null ? null : quote(text),
  generator,
})

// EXIF 3.0 4.6.5: UNICODE is UTF-16. The byte order is not specified: writers use that of the block, or big-endian.
function decodeComment(bytes: Buffer): string {
  const body = bytes.subarray(8, 8 + MAX_TEXT_CHARACTERS)
  if (!bytes.subarray(0, 8).toString('latin1').startsWith('UNICODE')) return body.toString('utf8')
  const even = Buffer.from(body.subarray(0, body.length - (body.length % 2)))
  const isBigEndian = even[0] === 0 || (even[0] === 0xfe && even[1] === 0xff)
  return (isBigEndian ? even.swap16() : even).toString('utf16le')
}

function tracesInXmp(packet: string): GeneratorTrace[] {
  return ['CreatorTool', 'Credit', 'AISystemUsed'].flatMap((field) =>
    valuesIn(packet, field).flatMap((value): GeneratorTrace[] => {
      const generator = nameIn(value)
      return generator === undefined ? [] : [{ where: 'xmp', field, value, generator }]
    }),
  )
}

/** Values of a property with any prefix, or none: of an attribute, an element, its resource, or a list in it. */
function valuesIn(packet: string, name: string): string[] {
  const values: string[] = []
  for (let at = packet.indexOf(name); at !== -1 && values.length < MAX_FOUND; at = packet.indexOf(name, at + 1)) {
    if (!OPENING.test(packet.slice(Math.max(0, at - MAX_PREFIX), at))) continue
    const from = at + name.length
    for (const text of valuesAfter(packet.slice(from, from + MAX_VALUE), name)) {
      const value = quote(text)
      if (value !== null && values.length < MAX_FOUND) values.push(value)
    }
  }
  return values
}

const MAX_PREFIX = 40
// The beginning of an element, with or without a prefix, or of an attribute with one; never the end of an element.
const OPENING = /(?:<(?:[\w.-]+:)?|\s[\w.-]+:)$/
const ATTRIBUTE = /^\s{0,9}=\s{0,9}["']([^"'<>]+)["']/
const ELEMENT = /^(?:\s([^<>]{0,500}))?>/
const RESOURCE = /(?:^|[\s:])resource\s{0,9}=\s{0,9}["']([^"'<>]+)["']/g

function valuesAfter(rest: string, name: string): string[] {
  const attribute = ATTRIBUTE.exec(rest)?.[1]
  if (attribute !== undefined) return [attribute]
  const element = ELEMENT.exec(rest)
  if (element === null) return []
  const own = resourcesIn(element[1] ?? '')
  if (element[1]?.endsWith('/')) return own
  const content = rest.slice(element[0].length)
  const end = content.search(new RegExp(`</(?:[\\w.-]{1,${MAX_PREFIX}}:)?${name}`))
  // Without its end, only its first text is certain to belong to it.
  const inside = content.slice(0, end === -1 ? Math.max(0, content.indexOf('<')) : end)
  return [...own, ...resourcesIn(inside), ...inside.split(/<[^<>]*>/)]
}

const resourcesIn = (text: string): string[] => [...text.matchAll(RESOURCE)].map(([, value = '']) => value)
