// What callers' code depends on in an OpenAPI document, one line per fact, sorted. Prose and examples are left out, and
// so is the order of members and of sets, so a line changes only with the contract.

type Json = Record<string, unknown>

const PROSE = new Set(['summary', 'description', 'title', 'example', 'examples', 'externalDocs', 'info', 'servers'])
// Their keys are names that we chose: a property may be called `description`.
const NAMED = new Set([
  ...['paths', 'webhooks', 'schemas', 'responses', 'parameters', 'securitySchemes', 'headers', 'content'],
  ...['properties', 'patternProperties', '$defs', 'dependentSchemas'],
])
const SETS = new Set(['enum', 'required', 'type', 'tags'])
const VALUES = new Set(['const', 'default'])

export function structureOf(document: object): string[] {
  return [...lines(document as Json, [], false)].sort()
}

function* lines(node: Json, place: readonly string[], isNamed: boolean): Generator<string> {
  const entries = Object.entries(node).filter(([key]) => isNamed || !PROSE.has(key))
  // An object without members says something too: `security: []`, or a schema that accepts everything.
  if (entries.length === 0) yield line(place, {})
  for (const [key, value] of entries) yield* member(key, value, { place, isNamed })
}

function* member(
  key: string,
  value: unknown,
  { place, isNamed }: { place: readonly string[]; isNamed: boolean },
): Generator<string> {
  const here = [...place, key]
  if (!isNamed && VALUES.has(key)) yield line(here, value)
  else if (!isNamed && (key === 'x-public' || key === 'x-no-sdk')) yield line(here, true)
  else if (!isNamed && key === 'parameters' && Array.isArray(value)) {
    for (const { in: kind, name, $ref, ...rest } of value as Json[]) {
      if ($ref !== undefined) yield line(here, $ref)
      else yield* lines(rest, [...here, `${kind} ${name}`], false)
    }
  } else if (Array.isArray(value)) {
    if (value.length === 0) yield line(here, value)
    for (const [index, one] of value.entries()) {
      if (SETS.has(key)) yield line(here, isObject(one) ? one.name : one)
      else if (isObject(one)) yield* lines(one, [...here, String(index)], false)
      else yield line([...here, String(index)], one)
    }
  } else if (isObject(value)) yield* lines(value, here, !isNamed && NAMED.has(key))
  else yield line(here, value)
}

function line(place: readonly string[], value: unknown): string {
  return `${place.join(' > ')}: ${JSON.stringify(value)}`
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
