// The prose of the OpenAPI document. It validates nothing, so it is here and not with the routes;
// test/house/openapi.test.ts compares its names with the route table and its examples with the schemas.

import type { Notes } from '#src/platform/http/openapi.ts'
import { ATTEST_NOTES } from './attest.ts'
import { CASE_NOTES } from './cases.ts'
import { CLAIM_NOTES } from './claims.ts'
import { DEVICE_LIFE_NOTES } from './device-life.ts'
import { DEVICE_NOTES } from './devices.ts'
import { WEBHOOK_NOTES } from './events.ts'
import { EVIDENCE_NOTES } from './evidence.ts'
import { POLICY_NOTES } from './policy.ts'
import { SCREENING_NOTES } from './screening.ts'
import { ENDPOINT_NOTES, SERVICE_NOTES } from './webhooks.ts'

const DESCRIPTION = `A capture device signs a photo with its hash, time, place and owner; this service verifies the capture and says what it
found: a score of named risk factors, each with its evidence, in a result that is itself signed.

**Keys.** \`Authorization: Bearer <API_KEY>\` or \`X-API-Key: <API_KEY>\`. \`svc_test_\` keys work in sandbox, \`svc_live_\` keys in
live; the two environments share nothing. Each operation requires one scope.

**Errors** are RFC 9457 problems with a stable \`code\`: see [all of them]({base_url}/docs/errors). **Lists** are newest first;
\`next_cursor\` leads to the next page. **Repeating** a POST, PUT, PATCH or DELETE is safe with an \`Idempotency-Key\`. **Times** are ISO 8601 in UTC.
Every answer has a \`Request-Id\`.

The [guide]({base_url}/docs/integrate) builds a capture app step by step.`

export const NOTES: Notes = {
  description: DESCRIPTION,
  // In the order in which a reader needs them.
  tags: [
    { name: 'Attest', description: 'Submit a signed capture and read what was found.' },
    { name: 'Claims', description: 'The combined result of all captures of one claim, for adjusters.' },
    { name: 'Cases', description: 'What adjusters decide about claims, why, and by when.' },
    { name: 'Batches', description: 'Thousands of captures at once.' },
    { name: 'Media', description: 'Uploading and downloading photos and videos.' },
    { name: 'Screening', description: 'Scores of a detector of synthetic media for an image.' },
    { name: 'Account', description: 'The requirements of an insurer for captures, and re-evaluations.' },
    { name: 'Devices', description: 'Which devices may sign, and which authorities certify them.' },
    { name: 'Webhooks', description: 'Where events are sent, and the log of each delivery.' },
    { name: 'Service', description: 'Health, public keys, this document and its pages.' },
  ],
  operations: {
    ...ATTEST_NOTES,
    ...CLAIM_NOTES,
    ...CASE_NOTES,
    ...EVIDENCE_NOTES,
    ...DEVICE_LIFE_NOTES,
    ...SCREENING_NOTES,
    ...POLICY_NOTES,
    ...DEVICE_NOTES,
    ...ENDPOINT_NOTES,
    ...SERVICE_NOTES,
  },
  webhooks: WEBHOOK_NOTES,
}
