// What another tenant does in each scenario, and at which rate: one tenant's worst request, a few at a time. Each is a
// closed loop (the next request waits for the previous answer) with a limited rate, so that it shows whether tenants
// are isolated, and not how an overloaded machine behaves.

import type { AttackName } from '../../test/support/attacks.ts'

export interface Scenario {
  says: string
  /** Loops that send concurrently. */
  atOnce: number
  /** Requests per second of all loops together, at most. */
  perSecond: number
  /** Half of the requests come with a publishable key, which is another account's. */
  hasPublishable?: boolean
  /** The attacker's account has rows: claims that no job will end today. */
  rows?: number
}

export const SCENARIOS = {
  nothing: { says: 'no attack: what the machine itself does to the figures', atOnce: 0, perSecond: 0 },
  certificates: {
    says: 'device certificates below RSA keys with exponents of 3,071 bits: 50 lines of NDJSON to /v1/admin/devices, and chains of captures',
    atOnce: 2,
    perSecond: 4,
    hasPublishable: true,
  },
  tls: {
    says: 'pings to 8 endpoints, whose https server presents 72 certificates with such exponents',
    atOnce: 2,
    perSecond: 4,
  },
  locks: {
    says: 'a batch of 10,000 lines on one claim reference, and one of 1,000 with a publishable key, cancelled and sent again, and single captures on it',
    atOnce: 9,
    perSecond: 20,
    hasPublishable: true,
  },
  pictures: {
    says: 'thumbnails and evidence PDFs of an AVIF of 1 KB with 6,000 x 6,000 pixels',
    atOnce: 3,
    perSecond: 3,
    hasPublishable: true,
  },
  bodies: {
    says: 'bodies of 20 MB with their media inline, to be attested and to be screened',
    atOnce: 2,
    perSecond: 2,
    hasPublishable: true,
  },
  polls: {
    says: '1,500 callers that wait 30 s each for a result that does not come, and ask again a second later',
    atOnce: 1_500,
    perSecond: 1_500,
    rows: 20_000,
  },
  json: {
    says: 'JSON bodies of 1 MB: nested without end, of thousands of values, with doubled members',
    atOnce: 2,
    perSecond: 10,
    hasPublishable: true,
  },
  videos: {
    says: 'captures of a video with 10,000 chunks, and chunks that are sent again and again',
    atOnce: 2,
    perSecond: 2,
  },
  lists: {
    says: 'lists of 100 with filters that match nothing, and their total, over 20,000 claims; dry runs of a policy',
    atOnce: 3,
    perSecond: 10,
    rows: 20_000,
  },
  screenings: {
    says: 'batches of 1,000 screenings and single ones',
    atOnce: 4,
    perSecond: 10,
    hasPublishable: true,
  },
  bulk: {
    says: 'six batches of 10,000 screenings at once, and two of 1,000 with a publishable key, sent again and again',
    atOnce: 8,
    perSecond: 8,
    hasPublishable: true,
  },
  drips: {
    says: 'thirteen bodies of 20 MB with a publishable key, of which the last megabyte comes at 2 KB/s',
    atOnce: 13,
    perSecond: 2,
    hasPublishable: true,
  },
  hanging: { says: 'events and pings to 40 endpoints that never answer', atOnce: 4, perSecond: 20 },
  providers: {
    says: 'an identity provider that never answers, and one with an expired certificate, configured by sixteen requests at once',
    atOnce: 16,
    perSecond: 40,
  },
} as const satisfies Record<AttackName | 'nothing', Scenario>

export type ScenarioName = keyof typeof SCENARIOS

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[]
