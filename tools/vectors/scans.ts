// Further readings of a JSON text that the service's own limits and its event loop ask for. No case has these limits: they follow
// from its value.

import { isDeepStrictEqual } from 'node:util'
import { type Json, parseInPieces, type ScanOptions, scanJson } from '#client/verify/json-scan.ts'
import { JsonError } from '#client/verify/json-tokens.ts'

const MAX_DEPTH = 32
// Most texts of the cases have several pieces of this length.
const PIECES = [1, 7]

interface Counts {
  maxMembers: number
  maxElements: number
  maxValues: number
}

/** The name of a reading of an accepted text that is not as its value demands. */
export function findDeviation(text: string, value: Json): string | undefined {
  const isSame = (read: Json) => isDeepStrictEqual(read, value) && JSON.stringify(read) === JSON.stringify(value)
  if (!PIECES.every((piece) => isSame(readInPieces(text, piece)))) return 'pieces'
  const counts: Counts = { maxMembers: 0, maxElements: 0, maxValues: 0 }
  const nuls: [string, boolean][] = []
  visit(value, '', counts, nuls)
  const found: [string, boolean][] = []
  if (codeOf(text, { ...counts, onNul: (...place) => found.push(place) }) !== undefined) return 'limits'
  for (const [name, most] of Object.entries(counts)) {
    if (most > 1 && codeOf(text, { [name]: most - 1 }) !== 'too_many_values') return name
  }
  return isDeepStrictEqual(found.toSorted(), nuls.toSorted()) ? undefined : 'onNul'
}

/** The refusal of a text that is read in pieces. */
export function refusalInPieces(text: string): JsonError | undefined {
  try {
    for (const piece of PIECES) readInPieces(text, piece)
    return undefined
  } catch (error) {
    if (error instanceof JsonError) return error
    throw error
  }
}

function readInPieces(text: string, piece: number): Json {
  const pieces = parseInPieces(text, { maxDepth: MAX_DEPTH }, piece)
  for (;;) {
    const step = pieces.next()
    if (step.done === true) return step.value
  }
}

function codeOf(text: string, options: Partial<ScanOptions>): string | undefined {
  try {
    scanJson(text, { maxDepth: MAX_DEPTH, ...options })
    return undefined
  } catch (error) {
    return error instanceof JsonError ? error.code : String(error)
  }
}

function visit(value: Json, pointer: string, counts: Counts, nuls: [string, boolean][]): void {
  if (typeof value === 'string' && value.includes('\0')) nuls.push([pointer, false])
  const isList = Array.isArray(value)
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const limit = isList ? 'maxElements' : 'maxMembers'
  counts[limit] = Math.max(counts[limit], members.length)
  if (members.length === 0) counts.maxValues += 1
  for (const [name, member] of members) {
    if (!isList && name.includes('\0')) nuls.push([pointer, true])
    // A pointer ends above a name that has U+0000.
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1')
    visit(member, name.includes('\0') ? pointer : `${pointer}/${step}`, counts, nuls)
  }
}
