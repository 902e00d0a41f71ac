// How the configuration names a model that runs elsewhere. Secrets have a key of their own, so that an address can be logged.

export const REMOTE_KINDS = ['openai', 'neuronpedia'] as const
export type RemoteKind = (typeof REMOTE_KINDS)[number]

/** One of `TRACE_MODELS`: `name=openai+https://host/v1#model`. */
export interface RemoteModel {
  kind: RemoteKind
  /** Without a slash at its end, and without user name, query and fragment. */
  address: string
  /** As the server calls it. */
  model: string
}

const ENTRY = /^(openai|neuronpedia)\+(https?:\/\/[^#]+)#([\w.:@/-]{1,128})$/

/** undefined: it does not look like one. @throws {Error} saying what is wrong. */
export function parseRemote(text: string): RemoteModel | undefined {
  if (!REMOTE_KINDS.some((kind) => text.startsWith(`${kind}+`))) return undefined
  const [, kind, url = '', model = ''] = ENTRY.exec(text) ?? []
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address === undefined) throw new Error('must be KIND+https://host/path#model, with KIND openai or neuronpedia')
  if (address.username !== '' || address.password !== '' || address.search !== '') {
    throw new Error('must have no user name and no query: keys are in TRACE_MODEL_KEYS')
  }
  return { kind: kind as RemoteKind, address: address.href.replace(/\/+$/, ''), model }
}
