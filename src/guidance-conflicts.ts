// What callers are told about errors that the present state of their data causes.

import type { Guidance } from './guidance.ts'

const NO = 'No. The same request fails the same way.'

export const CONFLICT_GUIDANCE = {
  conflict: {
    happened: 'The request contradicts the current state: the detail says how.',
    remedy: 'Read the present state, then send another request, or none.',
    repeat: NO,
    example: { detail: 'The account is closed already.' },
  },
  invalid_state_transition: {
    happened: 'The object has a status from which this transition is not possible.',
    remedy:
      'Read the object. `current_status` is its status; `allowed` lists the ones in which the request is possible. For a ' +
      'case it lists the ones that the case can change to.',
    repeat: 'Only after its status has changed.',
    example: {
      detail: 'Only an attestation that failed or was cancelled can be retried; the status of this one is succeeded.',
      members: { allowed: ['failed', 'cancelled'], current_status: 'succeeded' },
    },
  },
  case_already_open: {
    happened: 'The claim has an open case, and a claim has at most one.',
    remedy: 'Go on with the case that `case_id` names.',
    repeat: 'Not until that case is closed.',
    example: {
      detail: 'The claim has an open case: cas_test_01m7x7m0a1e4e8k5v3d9s6q0td.',
      members: { case_id: 'cas_test_01m7x7m0a1e4e8k5v3d9s6q0td' },
    },
  },
  claim_erased: {
    happened: 'The claim was erased: only its hashes are kept, and it takes no captures, screenings or cases.',
    remedy: 'Submit under another claim reference, or do not send the request.',
    repeat: NO,
    example: {
      detail: '/claim/reference names a claim that was erased: it takes no more captures.',
      errors: [
        {
          pointer: '/claim/reference',
          code: 'claim_erased',
          detail: 'names a claim that was erased: it takes no more captures',
        },
      ],
    },
  },
  consumer_moved: {
    happened: 'The event consumer is not where `expected_position` says: another process has moved it.',
    remedy: 'Let one process at a time move a consumer. `position` says where it is now.',
    repeat: 'With the position in `position` as `expected_position`, if your process is the one that reads on.',
    example: {
      detail: 'The consumer claims-desk is at 4310, and not at 4200: another process has moved it.',
      members: { position: 4310 },
    },
  },
  external_id_reused: {
    happened: 'The `external_id` names a submission with other content.',
    remedy: 'Send the content that was sent first, or choose another `external_id` for what is new.',
    repeat: NO,
    example: {
      detail: '/external_id names a submission with other content.',
      errors: [
        { pointer: '/external_id', code: 'external_id_reused', detail: 'names a submission with other content' },
      ],
    },
  },
  last_owner: {
    happened: 'The user is the last owner of the account, and an account has at least one.',
    remedy: 'Make another member an owner first.',
    repeat: 'After another member has become an owner.',
    example: { detail: 'This is the last owner of the account: make another user an owner first.' },
  },
  limit_reached: {
    happened: 'The account, or the user, has as many of these as there can be.',
    remedy: 'Delete or revoke one that is no longer needed. `maximum` says how many there can be.',
    repeat: 'After one was deleted or revoked.',
    example: { detail: 'There can be 16 webhook endpoints. Delete one first.', members: { maximum: 16 } },
  },
  not_ready: {
    happened: 'What the request asks for does not exist yet: the work that makes it has not ended, or has failed.',
    remedy:
      'Wait for the work to end: read its object, with `wait` where the route takes it. Where `current_status` is ' +
      '`failed` or `cancelled`, request the work again.',
    repeat: 'Yes, the same request, after as many seconds as Retry-After says or when the status has changed.',
    example: {
      detail: 'job_test_01m7x7m0a1e4e8k5v3d9s6q0te has no manifest: it is running.',
      members: { current_status: 'running' },
    },
  },
  text_not_kept: {
    happened: 'The texts that the request needs were not kept, or are no longer kept.',
    remedy: 'Run the inference again with `retain` set to `text`, and use its trace.',
    repeat: NO,
    example: {
      detail: 'trc_test_01m7x7p0d7c4e4hv6x9s8n1q0v keeps no text: a logit lens needs an inference with retain=text.',
    },
  },
} as const satisfies Record<string, Guidance>
