// The types of ids: the word that an id begins with, and the name of what it identifies, for callers. A new type is one
// line here. Form of an id: src/platform/ids.ts.

/** Their ids carry the environment's word: `clm_live_...`. */
export const SCOPED_TYPES = {
  key: 'API key',
  clm: 'claim',
  cas: 'case',
  att: 'attestation',
  bat: 'batch',
  cap: 'capture session',
  med: 'media',
  scr: 'screening',
  dev: 'device',
  chl: 'device challenge',
  ree: 're-evaluation',
  rca: 'root CA',
  cpa: 'C2PA trust anchor',
  whe: 'webhook endpoint',
  whd: 'webhook delivery',
  rcv: 'webhook recovery',
  evt: 'event',
  jti: 'intent token',
  apr: 'approval',
  rev: 'revocation',
  stp: 'stop',
  pkc: 'passkey challenge',
  dec: 'decision',
  agt: 'agent',
  ses: 'agent session',
  lck: 'session lock',
  trc: 'trace',
  job: 'attribution job',
  shr: 'trace share',
  shv: 'view of a share',
  dsr: 'disclosure request',
  sch: 'schedule',
  mnd: 'mandate',
  prs: 'prescriber',
  pfa: 'fact of a prescriber',
  ord: 'clinician order',
  exi: 'import of an exclusion list',
  exs: 'screening of prescribers',
  exr: 'exclusion review',
  dif: 'model diff',
  evs: 'evaluation set',
} as const
export type ScopedType = keyof typeof SCOPED_TYPES

/** Types of ids of an account, or of none: they have no environment's word. */
export const ACCOUNT_TYPES = {
  acc: 'account',
  usr: 'user',
  uss: 'user session',
  inv: 'invite',
  sso: 'single sign-on',
  sct: 'token of a directory',
  lnk: 'login link',
  mai: 'mail',
  psk: 'passkey',
  aud: 'audit entry',
  exp: 'export',
  req: 'request',
} as const
export type AccountType = keyof typeof ACCOUNT_TYPES

/** Named by what they contain: the word, and the beginning of a SHA-256 in hex. */
export const CONTENT_TYPES = {
  evp: 'evidence packet',
} as const
export type ContentType = keyof typeof CONTENT_TYPES
