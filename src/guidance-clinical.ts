// What callers are told about errors that only clinician orders have. Each has one way out.

import type { Guidance } from './guidance.ts'

const NO = 'No. The same request fails the same way.'
const HASH = 'Wl1FhBqzD6vUgXZ9n2mJ0c4yP8rTQe5sKa7iL3oNwYk'

export const CLINICAL_GUIDANCE = {
  signer_mismatch: {
    happened:
      'The person is not the prescriber of the order, who alone signs it; or, for a co-signature, no prescriber of the account.',
    remedy: 'Sign in as the user that the prescriber names, or use a passkey of that user.',
    repeat: NO,
    example: { detail: 'The prescriber of an order signs it: this person is another one.' },
  },
  cosigner_same_user: {
    happened: 'The person is the prescriber of the order, and can not be its second clinician.',
    remedy: 'Let another prescriber co-sign or decline it. The prescriber can cancel it.',
    repeat: NO,
    example: { detail: 'The prescriber of an order can not be its second clinician.' },
  },
  cosigner_same_npi: {
    happened: 'The second clinician has the National Provider Identifier of the prescriber.',
    remedy: 'Let a prescriber with another NPI co-sign it, or correct the NPI that is wrong.',
    repeat: NO,
    example: { detail: 'The second clinician has the NPI of the prescriber.' },
  },
  passkey_required: {
    happened: 'The signature needs a passkey, and the request has no assertion of one.',
    remedy: 'Ask for a challenge with POST /v1/clinical/orders/{id}/challenge, and send what the passkey answers.',
    repeat: NO,
    example: { detail: 'This signature needs a passkey: send passkey_assertion.' },
  },
  prescriber_excluded: {
    happened: 'The prescriber or the co-signer is on an exclusion list, LEIE or SAM.',
    remedy:
      'Let another clinician order. A wrong entry is corrected at its list; a match by name is decided as a review.',
    repeat: 'Not before the list or the review has changed.',
    example: { detail: 'The prescriber or the co-signer is on an exclusion list.' },
  },
  prescriber_tier_insufficient: {
    happened:
      'The tier of the prescriber or of the co-signer, or the schedules of the DEA registration, do not suffice.',
    remedy:
      'Enter the missing facts and have them confirmed, or let another prescriber order. GET the prescriber for its tier.',
    repeat: 'Not before the tier has changed.',
    example: {
      detail: 'The prescriber, and a co-signer, must have tier 3 and a registration for the schedule II.',
      members: { required_tier: 3 },
    },
  },
  clinical_policy_denied: {
    happened: 'The clinical policy refuses the order; `matched_rule_id` says by which rule.',
    remedy: 'The guide Clinician orders has the way out of each rule.',
    repeat: 'Not before the order or the policy has changed.',
    example: {
      detail: 'The clinical policy refuses the order: clinical:refills_exceeded.',
      members: { matched_rule_id: 'clinical:refills_exceeded' },
    },
  },
  challenge_act_mismatch: {
    happened: 'The challenge is for the other act: a signature is no co-signature.',
    remedy: 'Ask for a challenge for this act.',
    repeat: NO,
    example: { detail: 'The challenge is for the act sign: ask for one for cosign.', members: { act: 'sign' } },
  },
  challenge_expired: {
    happened: 'The challenge is older than two minutes.',
    remedy: 'Ask for another challenge, and sign that one.',
    repeat: NO,
    example: { detail: 'The challenge has expired: it is valid for two minutes. Ask for another.' },
  },
  payload_hash_mismatch: {
    happened: 'The order was edited after the challenge was made, or the challenge is for another order.',
    remedy: 'Read the order again, show it to the signer, and ask for a challenge for what it says now.',
    repeat: NO,
    example: {
      detail: 'The challenge is for another content: the order was edited, or it is another order. Read it again.',
      members: { order_hash: HASH },
    },
  },
} as const satisfies Record<string, Guidance>
