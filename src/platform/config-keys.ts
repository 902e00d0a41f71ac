// How a part declares its configuration. src/config.ts puts the parts together; it alone reads the environment.

import { z } from 'zod'

/** The environment without its empty keys. */
export type GivenKeys = Readonly<Record<string, string | undefined>>

export interface ConfigPart<Keys extends z.ZodRawShape = z.ZodRawShape> {
  /** Heading of its keys in docs/operate/configuration.md. */
  title: string
  /** Each with its default and a sentence. */
  keys: Keys
  /** What is wrong with the combination of keys, as sentences that begin with one. */
  problems?(given: GivenKeys): string[]
}

export type SettingsOf<Part extends ConfigPart> = z.output<z.ZodObject<Part['keys']>>

export function defineConfig<Keys extends z.ZodRawShape>(part: ConfigPart<Keys>): ConfigPart<Keys> {
  return part
}

type KeysOf<Parts extends readonly ConfigPart[]> = Parts extends readonly [
  infer First extends ConfigPart,
  ...infer Rest extends readonly ConfigPart[],
]
  ? First['keys'] & KeysOf<Rest>
  : Record<never, never>

/** @throws {Error} when two parts have the same key. */
export function mergeKeys<const Parts extends readonly ConfigPart[]>(parts: Parts): KeysOf<Parts> {
  const entries = parts.flatMap(({ keys }) => Object.entries(keys))
  const merged = Object.fromEntries(entries)
  if (Object.keys(merged).length < entries.length) throw new Error('two parts declare the same configuration key')
  return merged as KeysOf<Parts>
}

export const number = z.coerce.number('must be a number').int('must be a whole number')
export const port = number.min(0, 'must be a port, 0 to 65535').max(65_535, 'must be a port, 0 to 65535')
export const label = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 lower-case letters, digits and hyphens')
export const onOff = z.enum(['on', 'off'], 'must be on or off').default('on')
export const httpAddress = z.url({ protocol: /^https?$/, error: 'must be an http or https address' })
export const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )

export function count(fallback: number) {
  return number.min(1, 'must be 1 to 10000').max(10_000, 'must be 1 to 10000').default(fallback)
}

/** Refuses what `read` throws at, with its message. */
export function readableBy<Schema extends z.ZodType>(
  schema: Schema,
  read: (value: z.output<Schema>) => unknown,
): Schema {
  return schema.superRefine((value, context) => {
    try {
      read(value)
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'can’t be read' })
    }
  })
}
