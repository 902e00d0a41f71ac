// What the examples of the OpenAPI document share: one claim, one device, one of each.

export const IDS = {
  agent: 'agt_test_01m7x7em9a2c4e4hv6x9s8n1q0',
  agentSession: 'ses_test_01m7x7eq9b2c4e4hv6x9s8n1q0',
  approval: 'apr_test_01m7x7m0a1e4e8k5v3d9s6q0tc',
  anchor: 'cpa_test_01m7x7em7d4e4hv6x9s8n1q0tk',
  recovery: 'rcv_test_01m7x7k8d2e6ts0a9n3v8wq5hd',
  rootCa: 'rca_test_01m7x7em5b4e4hv6x9s8n1q0tj',
  account: 'acc_01m7x7enn9exb9d4gh0kbvf97d',
  attestation: 'att_test_01m7x7ere1ey09f3faaz5qa7a5',
  batch: 'bat_test_01m7x7jxdnfa19awf1mc39ezm8',
  case: 'cas_test_01m7x7k4d2e6ts0a9n3v8wq5hc',
  challenge: 'chl_test_01m7x7em2c4e4hv6x9s8n1q0tg',
  claim: 'clm_test_01m7x7ere2f68a0t42dwam1yqg',
  decision: 'dec_test_01m7x7k5d2e6ts0a9n3v8wq5hc',
  delivery: 'whd_test_01m7x7jxs6ehgtt9c811wrkekn',
  device: 'dev_test_01m7x7en8bf9nbq2rz3w0k6v4d',
  endpoint: 'whe_test_01m7x7j2c4e4hv6x9s8n1q0tgb',
  diff: 'dif_test_01m7x7k8e4e6ts0a9n3v8wq5hc',
  evalSet: 'evs_test_01m7x7k8e5e6ts0a9n3v8wq5hc',
  event: 'evt_test_01m7x7jxs6efbrd8gm19sdt58z',
  lock: 'lck_test_01m7x7k6d2e6ts0a9n3v8wq5hc',
  key: 'key_test_01m7x7em9q0ap5mzh3v1d8s2ct',
  mandate: 'mnd_test_01m7x7k8d2e6ts0a9n3v8wq5hc',
  media: 'med_test_01m7x7er9sfqt8c5d1h7y2b3kz',
  session: 'cap_test_01m7x7eq4zfb6s1m8k0d5w9t2n',
  schedule: 'sch_test_01m7x7k8d2e6ts0a9n3v8wq5hc',
  screening: 'scr_test_01m7x7k9q2v4c8d5t1h7y2b3ka',
  job: 'job_test_01m7x7k9d2e6ts0a9n3v8wq5hc',
  share: 'shr_test_01m7x7k9d2e6ts0a9n3v8wq5hc',
  shareView: 'shv_test_01m7x7k9d2e6ts0a9n3v8wq5hc',
  disclosure: 'dsr_test_01m7x7k9d2e6ts0a9n3v8wq5hc',
  trace: 'trc_test_01m7x7k7d2e6ts0a9n3v8wq5hc',
  traceJob: 'job_test_01m7x7k8f3b5nw2c7r4t9yd6ke',
} as const

/** Actors as answers show them. */
export const ACTORS = {
  user: { type: 'user', id: 'usr_01m7x7ennfe7dsmvdzwjp06y9w', label: 'ada@example.com' },
  key: { type: 'key', id: IDS.key, label: 'backend' },
  service: { type: 'service', id: null, label: null },
} as const

/** In events, which contain nothing personal. */
export const EVENT_ACTOR = { ...ACTORS.key, label: null } as const

/** A list of one, as every list is answered. */
export const listed = (item: object) => ({ object: 'list', data: [item], has_more: false, next_cursor: null })

export const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

export const CHALLENGE = 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s'

/** The public half of a key that signs results. */
export const PUBLIC_KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'pZE0lJtuFqDq3C9y6vZS3oiRmPZFkhFGhZqXouxlfuY',
  y: 'Klxf68h2MBZUdXACGgGxA0hptCHA_8H2t5xSKg0kLUk',
  kid: 'xY5V9Gt8B5Vpb_CKveDc53w7NBiwGKvc5CNuAMCwL2M',
  alg: 'ES256',
  use: 'sig',
  env: 'sandbox',
  family: 'record',
} as const
