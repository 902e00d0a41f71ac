// Finds known secrets in what a system wrote, whatever the form: Postgres shows bytes as hex, a message may be encoded
// once more, and a log or a label may keep only a part.

export interface Secrets {
  /** Remembers a secret, and returns it. @param kind In words, for the failure: a leak never prints the secret itself. */
  keep(kind: string, value: string): string
  values(): readonly string[]
  /** The kinds that occur in a text, each with the form. Bytes are read as latin1. */
  findIn(text: string | Buffer): string[]
}

// So many characters can't be guessed, and no other text of a run has them by chance.
const PIECE = 12
const STEP = 4

export function createSecrets(): Secrets {
  const known: { kind: string; value: string; forms: Map<string, string> }[] = []
  return {
    keep(kind, value) {
      known.push({ kind, value, forms: formsOf(value) })
      return value
    },
    values: () => known.map(({ value }) => value),
    findIn(text) {
      const searched = typeof text === 'string' ? text : text.toString('latin1')
      return known.flatMap(({ kind, forms }) => {
        const found = [...forms].find(([form]) => searched.includes(form))
        return found === undefined ? [] : [`${kind} as ${found[1]}`]
      })
    },
  }
}

/** What to search for, each with its name. */
export function formsOf(value: string): Map<string, string> {
  const part = secretPart(value)
  const forms = new Map<string, string>()
  for (let at = 0; at + PIECE <= part.length; at += STEP) forms.set(part.slice(at, at + PIECE), 'text')
  const bytes = Buffer.from(part, 'base64url')
  for (const [of, raw] of [
    ['text', Buffer.from(part)],
    ['bytes', bytes],
  ] as const) {
    forms.set(raw.toString('hex'), `hex of its ${of}`)
    forms.set(raw.toString('hex').toUpperCase(), `hex of its ${of}`)
    for (const form of base64Inside(raw)) forms.set(form, `base64 of its ${of}`)
  }
  forms.set(bytes.toString('latin1'), 'bytes')
  return forms
}

// The prefixes are public. Only the signature of a signed token is secret: its header and its claims are no credential.
function secretPart(value: string): string {
  const [, , signature] = /^eyJ[\w-]+\.[\w-]+\.([\w-]+)$/.test(value) ? value.split('.') : []
  return signature ?? value.replace(/^(?:svc_(?:live|test)_|whsec_)/, '')
}

// Inside of a longer text, at each of the three places at which a group of 3 bytes can begin, without the characters that
// depend on the neighbours.
function base64Inside(raw: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const whole = Math.floor((offset + raw.length) / 3) * 4
    const encoded = Buffer.concat([Buffer.alloc(offset), raw]).toString('base64')
    const inner = encoded.slice(offset === 0 ? 0 : 4, whole)
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
