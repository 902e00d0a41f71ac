import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { auditEntryView } from './routes.ts'

const entry = {
  audit_entry_id: 'aud_01m7x7k9q2v4c8d5t1h7y2b3ka',
  at: '2026-11-20T15:11:04.310Z',
  action: 'risk_policy.changed',
  environment: 'live',
  actor: { type: 'user', id: 'usr_01m7x7en8bf9nbq2rz3w0k6v4d', label: 'ada@example.com' },
  from: { ip: '203.0.113.7', user_agent: 'Mozilla/5.0' },
  request_id: 'req_01m7x7k9q1v4c8d5t1h7y2b3kb',
  subject_id: null,
  before: { version: 3, policy: { geofence_m: 1000 } },
  after: { version: 4, policy: { geofence_m: 500 } },
}
const read = {
  ...entry,
  action: 'media.read',
  actor: { type: 'key', id: 'key_live_01m7x7en8bf9nbq2rz3w0k6v4e', label: 'backend' },
  subject_id: IDS.media,
  before: null,
  after: { representation: 'original' },
}

export const NOTES: Record<string, Note> = {
  'GET /v1/account/audit': {
    description:
      'Who did what, when and from where. An entry is written in the transaction of the act, and the entry of a read ' +
      'before its first byte is sent. Reads of the same photo or video by the same key or user within a minute are one ' +
      'entry; each download of an export is one. Refused acts (`act.refused`) and failed sign-ins of users (`user.sign_in_refused`) are entries, ten ' +
      'of one key or user in ten minutes, and the others counted in one. A sandbox key reads the entries of the sandbox. Entries are kept for 30 days, a year or seven years, by ' +
      'plan. See [the account]({base_url}/docs/account/account).',
    answers: { 200: { example: listed(entry) } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/account/audit/:id': {
    description: 'As in the list.',
    answers: { 200: { example: entry } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/account/audit/export': {
    description:
      'One entry per line, with the same filters, up to the time of the request. The export is recorded too.',
    answers: {
      200: {
        stream: {
          schema: auditEntryView,
          isLines: true,
          examples: { 'A change and a read': `${JSON.stringify(entry)}\n${JSON.stringify(read)}\n` },
        },
      },
    },
    problems: ['environment_mismatch'],
  },
}
