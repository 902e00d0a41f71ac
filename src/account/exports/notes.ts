import { ACTORS, DIGEST, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const ID = 'exp_01m7x7k9q2v4c8d5t1h7y2b3kc'

const queued = {
  export_id: ID,
  status: 'queued',
  failure: null,
  includes_media: true,
  requested_by: ACTORS.user,
  progress: { files: 0, rows: 0 },
  size: null,
  sha256: null,
  created_at: '2026-11-20T15:11:04.310Z',
  finished_at: null,
  expires_at: null,
}
const ready = {
  ...queued,
  status: 'succeeded',
  progress: { files: 61, rows: 48210 },
  size: 7340032,
  sha256: DIGEST,
  finished_at: '2026-11-20T15:12:40.007Z',
  expires_at: '2026-11-27T15:12:40.007Z',
}

export const NOTES: Record<string, Note> = {
  'POST /v1/account/export': {
    description:
      'Takes the session of an owner, which began less than 10 minutes ago (`session_required` otherwise). Each table is one file with a JSON object per line, for both environments; secrets ' +
      'and their hashes are left out. `manifest.json` has the SHA-256 of each file. An account has one export at a time. ' +
      'See [the account]({base_url}/docs/account/account).',
    examples: { 'With photos and videos': { include_media: true } },
    answers: {
      202: {
        description: 'It is being made.',
        headers: { Location: 'Where to read its progress.' },
        example: queued,
      },
    },
    problems: ['conflict', 'environment_mismatch', 'not_found'],
  },
  'GET /v1/account/exports': {
    description: 'Also those that failed or have expired.',
    answers: { 200: { example: listed(ready) } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/account/exports/:id': {
    description: '`succeeded`: it can be downloaded until `expires_at`, for 7 days. `wait` waits for its end.',
    answers: { 200: { example: ready } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/account/exports/:id/download': {
    description:
      'Takes a session that began less than 10 minutes ago, as requesting it. `not_ready` until it is made, and a `conflict` after it has expired. Each download is in the audit log: a range that does not ' +
      'begin with the first byte continues one.',
    headers: {
      Range: 'One range of bytes, such as `bytes=0-1048575`.',
      'If-Range': 'The ETag of the archive: another one gets the whole archive.',
    },
    answers: {
      200: { description: 'All of it.', headers: { 'Accept-Ranges': '`bytes`.' } },
      206: {
        description: 'The range.',
        headers: { 'Accept-Ranges': '`bytes`.', 'Content-Range': 'Which part of how many bytes this is.' },
      },
    },
    problems: ['not_ready', 'conflict', 'environment_mismatch', 'not_found', 'range_not_satisfiable'],
  },
}
