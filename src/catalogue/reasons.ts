// What every reason code means and what to do about it, for the API and for docs/authorize/reasons.md. Codes are added and never change
// their meaning. Which codes exist is decided by the features that give them: a test compares.

export interface ReasonText {
  /** Markdown, with links as in docs/. */
  meaning: string
  remedy: string
}

/** The reasons of verify, in the order in which they are answered. */
export const VERIFY_REASON_TEXTS = {
  invalid_token: {
    meaning:
      'The token is malformed, its signature does not verify, it is not the exact string that authorize returned, it belongs to another account, or verify named another device, agent session or audience than it was issued for, or left one out that the policy requires ([`require_bindings`](policy.md#bindings)).',
    remedy:
      'Pass the token on as it is, without decoding it. Compare `device_id`, `agent_session_id` and `audience` of both calls. If they agree, treat the caller as an attacker: the token is made up or stolen.',
  },
  approval_denied: {
    meaning: 'A person denied the approval that the action needs.',
    remedy: 'Stop. Tell the agent that a person said no; the denial is final for this token.',
  },
  approval_expired: {
    meaning: 'Nobody decided about the approval in time.',
    remedy: 'Authorize again if the action is still wanted: that asks the approvers again.',
  },
  token_expired: {
    meaning:
      "The token is past its expiry (300 seconds unless `ttl_seconds` said otherwise). One that was approved is valid for that long from the approval on, and until 300 seconds after the approval's `expires_at` at most.",
    remedy:
      'Authorize again, immediately before the action. If this is frequent, the token waits too long in a queue: authorize later rather than longer.',
  },
  token_revoked: {
    meaning:
      'The token, its agent session or its device was revoked; `revoked_scope` says which: `token`, `session` or `device`.',
    remedy:
      '`token`: authorize again if the revocation was meant for this one action. `session`, `device`: a new session or another device is needed, and a look at why it was revoked.',
  },
  session_canary_locked: {
    meaning:
      'The agent session, or the agent, was locked after a canary reached its threshold; `lock_id` names the lock, or the first of several.',
    remedy:
      'Look at the trace that tripped it, then `POST /v1/trace/session-locks/{lock_id}/clear`. Until then every action of the session is refused. An agent with several locks is refused until each is cleared.',
  },
  agent_suspended: {
    meaning: "The token's agent is suspended, or is no longer in the registry.",
    remedy:
      '`GET /v1/agents/{id}` shows the causes. `POST /v1/agents/{id}/unsuspend` lifts a manual suspension; a lock is cleared by its own route.',
  },
  action_hash_mismatch: {
    meaning: '`action_description` differs from the authorized one, by at least one byte.',
    remedy:
      'Pass the description on unchanged: no trimming, no translation, no other Unicode form. If the action has really changed, authorize it again.',
  },
  payload_hash_mismatch: {
    meaning:
      "`action_payload` differs from the authorized one as canonical JSON (RFC 8785): order and spaces do not matter, every value does. Or the `counterparty` beside it is not the payload's, and no mandate or schedule says so. Or the token is of an [order](clinical.md#orders-in-verify) that was edited after authorize, or that names another payload.",
    remedy:
      'Verify what the tool is about to run. Usual causes: `"120.00"` became `120`, a default was filled in, a member was dropped. If a value really changed, authorize it again.',
  },
  context_hash_mismatch: {
    meaning:
      '`context_evidence` at verify differs from the evidence that the token is bound to, or the token is bound to none. Or it is absent, and the policy [requires it](policy.md#bindings).',
    remedy:
      'Send the same evidence at authorize and at verify, or send none at verify where the policy does not require it.',
  },
  canary_reading_mismatch: {
    meaning: "The stored reading of the token's trace is not the one that was bound into the token.",
    remedy: 'Authorize again with the `trace_id` of the inference that led to the action.',
  },
  token_already_executed: {
    meaning:
      'The action was executed before, by a request that this one does not repeat, and the token is good for one execution: it is of [single use](tokens.md#how-often-a-token-is-valid), or under a mandate or an order, or was approved. Or another token has executed the order.',
    remedy:
      'Do not run it again. To learn how it ended: `GET /v1/intent/executions/{jti}`. After a lost answer repeat with the same `Idempotency-Key`.',
  },
  mandate_revoked: {
    meaning: 'The mandate that the token was authorized under was revoked.',
    remedy: 'The principal has to give a new mandate.',
  },
  mandate_expired: {
    meaning: 'The mandate is past its end.',
    remedy: 'The principal has to give a new mandate.',
  },
  mandate_heartbeat_lapsed: {
    meaning: 'The mandate missed its check-in and is suspended.',
    remedy:
      'Check in (`POST /v1/mandates/{id}/heartbeat`) within the reactivation window; after it, a new mandate is needed.',
  },
  mandate_constraint_violated: {
    meaning:
      'The action breaks a constraint of the mandate: amount, currency, action type, counterparty, instrument, window, beginning or agent. `mandate_detail` names it.',
    remedy:
      'Change the action to fit, or ask the principal for another mandate. A missing, negative or foreign amount violates too, and so does an amount, a type or a counterparty beside the payload that contradicts it.',
  },
  mandate_budget_exceeded: {
    meaning:
      'The action costs more than what is left of the budget of the mandate, or of one above it, or `max_count` executions are used up; `mandate_detail` says which.',
    remedy: 'Wait for the next period, make the action smaller, or ask for a larger budget.',
  },
  schedule_counterparty_mismatch: {
    meaning: "The action goes to another counterparty than the schedule's.",
    remedy: 'Stop: a recurring payment that changes its receiver is a sign of fraud.',
  },
  schedule_amount_exceeded: {
    meaning: 'The amount differs from the fixed one of the schedule, or is above its maximum.',
    remedy: 'Correct the amount, or make another schedule.',
  },
  schedule_already_executed: {
    meaning: 'The current cycle was executed before, or another request executed this token.',
    remedy: 'Do not run it again; wait for the next cycle.',
  },
  schedule_occurrences_exhausted: {
    meaning: 'The schedule has run all of its occurrences, or was cancelled.',
    remedy: 'Make another schedule if it should go on.',
  },
  schedule_window_missed: {
    meaning: 'The window of the current cycle is closed, or the schedule is paused.',
    remedy: 'Wait for the next cycle, or resume the schedule.',
  },
  prescriber_excluded: {
    meaning:
      'The prescriber, or the clinician who co-signed, is on an [exclusion list](clinical.md#exclusion-lists) that is in force now.',
    remedy:
      'Another prescriber has to order, or another clinician to co-sign an order that was made anew. A wrong entry is corrected at its list.',
  },
  order_declined: {
    meaning: 'A clinician declined the order.',
    remedy: 'Stop; the decision is final for this order.',
  },
  prescriber_tier_insufficient: {
    meaning:
      "The verified tier of the prescriber, or of the clinician who co-signed, is too low for the order's schedule now, or no registration with the DEA that is in force covers the schedule.",
    remedy:
      '`GET /v1/clinical/prescribers/{id}` shows the tier and what it lacks. Verify the prescriber to the tier, or let another one order.',
  },
  controlled_substance_cosign_required: {
    meaning: 'The order needs the co-signature of a second clinician, on its present content.',
    remedy: 'Have the order co-signed, then verify again with the same token.',
  },
  biometric_required: {
    meaning:
      '`context.require_biometric` is true, at authorize or at verify, and the token is not bound to a biometric.',
    remedy: 'Authorize again with a passkey assertion of the person.',
  },
  hardware_required_above_500: {
    meaning:
      'The amount is strictly above 500 (the largest of `context.transaction_amount`, `action_payload.transaction_amount` and `action_payload.amount`), and the device is not hardware-attested.',
    remedy:
      'Run it from an enrolled device with hardware evidence ([Hardware](../attest/hardware.md)), or change `default_rules.hardware_above`.',
  },
  policy_denied: {
    meaning:
      "A rule with `require.deny` matched, or a rule asks for an approval that this token can't get any more. With `matched_rule_id` `system:stop` the account is stopped; one that begins with `clinical:` says [why an order does not authorize](clinical.md#orders-in-verify).",
    remedy:
      'The rule says what is forbidden; `POST /v1/policy/simulate` shows why it matches. A stop ends with `POST /v1/intent/resume`. The way out of each `clinical:` rule is in [the guide](clinical.md#orders-in-verify).',
  },
  policy_biometric_required: {
    meaning: 'A rule requires a token that is bound to a biometric, and this one is not.',
    remedy: 'Authorize again with a passkey assertion of the person.',
  },
  policy_hardware_required: {
    meaning: 'A rule requires a hardware-attested device, and this one is not.',
    remedy: 'Run it from an enrolled device with hardware evidence ([Hardware](../attest/hardware.md)).',
  },
  policy_tier_required: {
    meaning: 'A rule requires a higher hardware tier than the device has.',
    remedy: 'Run it from a device of that tier; `GET /v1/admin/devices/{id}` shows what a device has.',
  },
  canary_tripped: {
    meaning: 'A canary family reached its threshold; `canary_readings` has the readings.',
    remedy:
      "Treat the agent's output as manipulated: look at the trace before anything of this session runs. Under `block_and_lock` the session is now locked.",
  },
  canary_unavailable: {
    meaning:
      'A strict canary condition has no reading of the set in `canary_set`: none was passed, or it is too old, of another session, made by the client, or of a model, length or source that is not asked for.',
    remedy:
      'Pass the `trace_id` of a traced inference of this session, or an `inference_input`; or make the condition `best_effort`.',
  },
  policy_webhook_denied: {
    meaning: 'The receiver of a webhook rule answered `deny`; `webhook_reason` has its reason.',
    remedy: 'Ask the owner of that receiver. The receiver is asked again at the next verify: its answer is not kept.',
  },
  policy_webhook_unavailable: {
    meaning: 'The receiver of a webhook rule gave no exact answer within 3 seconds.',
    remedy:
      'Verify again in a moment: the cause may be temporary. If it stays, `webhook_unavailable_cause` is [the cause](policy-webhooks.md#when-there-is-no-answer).',
  },
  approval_pending: {
    meaning: 'A person has to approve the action; `approval_id` names the approval.',
    remedy:
      'Wait for the event `approval.resolved`, or verify again with `"execute": false` every few seconds. The same token becomes valid when enough people have approved.',
  },
} as const satisfies Record<string, ReasonText>

/** Reasons of verify that are about the orders of clinicians: `all`, and those that no other action gets. */
export const CLINICAL_REASONS = {
  all: [
    'payload_hash_mismatch',
    'prescriber_excluded',
    'order_declined',
    'prescriber_tier_insufficient',
    'controlled_substance_cosign_required',
  ],
  ofOrdersOnly: [
    'prescriber_excluded',
    'order_declined',
    'prescriber_tier_insufficient',
    'controlled_substance_cosign_required',
  ],
} as const

/** Findings about captures: those that add points, and the advisory ones that never do. */
export const FINDING_TEXTS = {
  device_revoked: {
    meaning: 'The device that signed is revoked, with effect from before the capture came in.',
    remedy:
      'Ask why the device was revoked, and for a capture with another one. If the revocation was a mistake, enroll the device again and submit a new capture.',
  },
  session_nonce_mismatch: {
    meaning:
      "The bundle's nonce, or the seed of its chain, is not one that the service issued for this device and claim and that was still unused: a replayed feed looks like this.",
    remedy: 'Issue a capture session for each capture and use its nonce once, before it expires.',
  },
  signature_invalid: {
    meaning:
      "The signature of the bundle is not valid under the device's key. As the reason of a case it says that a claim was denied on that ground.",
    remedy:
      'Sign the canonical JSON of the bundle with the key of the first certificate. A bundle that was changed after it was signed has to be captured again.',
  },
  no_manifest: {
    meaning: 'The media came without a signed bundle.',
    remedy: 'Capture with a device that signs. Media from elsewhere can be screened for signs of synthesis.',
  },
  frame_hash_mismatch: {
    meaning: 'The hashes of the chunks of the video, computed again, do not continue the chain of the manifest.',
    remedy: 'Upload the chunks that were hashed, without transcoding them. Otherwise treat the recording as changed.',
  },
  sensor_hash_mismatch: {
    meaning: 'The bytes of the image do not have the hash that the device signed.',
    remedy: 'Submit the file as the camera wrote it: resizing, rotating or removing metadata changes it.',
  },
  cert_unknown_ca: {
    meaning:
      "The device's certificate does not lead to a root CA of the account, or was not valid at the time of the capture.",
    remedy: 'Register the root CA with `POST /v1/admin/root-cas`, or renew the certificate of the device.',
  },
  hardware_backing_absent: {
    meaning: 'The hardware tier that the service verified is software, or the device came without evidence.',
    remedy: 'Enroll the device with key attestation or App Attest, or submit newer evidence of it.',
  },
  liveness_check_failed: {
    meaning: 'The times and the arrival of the chunks do not fit a live recording. It says nothing about faces.',
    remedy: 'Record and stream the video in one go, in a capture session.',
  },
  video_manifest_incomplete: {
    meaning: 'The manifest of the video lacks chunks or fields, or its count differs from what it lists.',
    remedy: 'Finish the recording and submit the whole manifest.',
  },
  gps_absent: {
    meaning: 'The bundle has no position, or one that is too inexact or simulated.',
    remedy: 'Allow the app to read the position, and capture where there is reception.',
  },
  timestamp_stale: {
    meaning: 'The capture is more than 72 hours older than its submission.',
    remedy: 'Submit captures soon after they are made. For an older one, ask the policyholder why.',
  },
  device_not_enrolled: {
    meaning: 'The device that signed is not in the registry of the account.',
    remedy: 'Enroll it with `POST /v1/admin/devices` and submit a new capture.',
  },
  biometric_absent: {
    meaning: 'No face or fingerprint confirmed who made the capture.',
    remedy: 'Use a capture app that asks for one before it signs.',
  },
  exif_missing: {
    meaning: 'A fresh capture has no EXIF data.',
    remedy: 'Nothing, if the app is known to write none; otherwise ask for the original file.',
  },
  exif_timestamp_mismatch: {
    meaning: 'The time in the EXIF data differs from the signed time by more than is tolerated.',
    remedy: 'Look whether the clock or the time zone of the device was wrong.',
  },
  exif_editor_trace: {
    meaning: 'The EXIF data name an image editor as the software that wrote the file.',
    remedy: 'Ask for the file as the camera wrote it.',
  },
  geofence_mismatch: {
    meaning: "The position of the capture is farther from the claim's place of loss than the risk policy allows.",
    remedy: 'Compare both places on a map, and ask why the capture was made elsewhere.',
  },
  c2pa_absent: {
    meaning: 'The file has no content credentials (C2PA).',
    remedy: 'Nothing: most files have none.',
  },
  c2pa_invalid: {
    meaning: 'The file has content credentials (C2PA) that are malformed, do not fit it, or have no valid signature.',
    remedy: 'Look at what the credentials say, and ask for the original file.',
  },
  c2pa_present_valid: {
    meaning: 'The file has content credentials (C2PA) that fit it and whose signature verifies.',
    remedy: 'Nothing: it supports the file, as far as you trust its signer.',
  },
  carrier_policy_attestation_missing: {
    meaning: 'The risk policy asks for an attested capture, and this is none.',
    remedy: 'Ask for a signed capture, or change the risk policy.',
  },
  carrier_policy_biometric_missing: {
    meaning: 'The risk policy asks for a biometric, and the capture has none.',
    remedy: 'Ask for a capture with one, or change the risk policy.',
  },
  carrier_policy_gps_missing: {
    meaning: 'The risk policy asks for a position, and the capture has none.',
    remedy: 'Ask for a capture with one, or change the risk policy.',
  },
  ai_generated_likely: {
    meaning: 'A detector scored the media as likely generated by software.',
    remedy: 'Have a person look at the media. Detectors err in both directions.',
  },
  deepfake_likely: {
    meaning: 'A detector scored the media as likely showing a replaced or generated face.',
    remedy: 'Have a person look at the media. Detectors err in both directions.',
  },
} as const satisfies Record<string, ReasonText>

/** Why cases of adjusters were decided. `signature_invalid` stands among the findings. */
export const CASE_REASON_TEXTS = {
  provenance_verified: {
    meaning: 'The claim was approved, as its provenance is verified.',
    remedy: 'Nothing: the case is decided.',
  },
  risk_accepted: {
    meaning: 'The claim was approved although its risk was flagged.',
    remedy: 'Nothing: the case is decided. The history names who accepted the risk.',
  },
  suspected_fraud: {
    meaning: 'The claim was escalated or denied for suspected fraud.',
    remedy: 'Follow the procedure for fraud. A denial takes a second person where the account demands two.',
  },
  insufficient_evidence: {
    meaning: 'The evidence did not suffice for a decision, or for the claim.',
    remedy: 'Ask the policyholder for more captures; a closed case can be opened again.',
  },
  policyholder_withdrew: {
    meaning: 'The policyholder withdrew the claim.',
    remedy: 'Nothing: the case has ended.',
  },
  other: {
    meaning: 'Another reason, which the note of the case describes.',
    remedy: 'Read the note. It has to have at least 10 characters.',
  },
} as const satisfies Record<string, ReasonText>

/** How completions of traced models end. `canary_tripped` stands among the reasons of verify. */
export const FINISH_REASON_TEXTS = {
  stop: {
    meaning: 'The model finished its completion.',
    remedy: 'Nothing: the completion is whole.',
  },
  length: {
    meaning: 'The completion reached `max_tokens`.',
    remedy: 'Raise `max_tokens`, or ask the model to go on.',
  },
} as const satisfies Record<string, ReasonText>

/** Words of the decision ledger that verify never answers. */
export const LEDGER_REASON_TEXTS = {
  approval_required: {
    meaning: 'A rule of the policy requires an approval, and there was none yet.',
    remedy: 'Nothing: verify answers `approval_pending` in its place.',
  },
  policy_webhook_pending: {
    meaning: 'The answer of a policy webhook was needed and not asked for: authorize and simulations ask none.',
    remedy: 'Nothing: verify asks the webhook.',
  },
  shadow_webhook_unevaluated: {
    meaning: 'A shadow rule would have asked a webhook, and shadow rules ask none.',
    remedy: 'Publish the rule to have its webhook asked, or read its other results.',
  },
  agent_unsuspended: {
    meaning: 'Clearing a session lock also resumed the agent that the lock had suspended.',
    remedy: 'Nothing, unless the agent should stay suspended: then suspend it.',
  },
  session_lock_cleared: {
    meaning: 'A person cleared a session lock.',
    remedy: 'Nothing: the note of the lock says why.',
  },
  reading_too_old: {
    meaning: 'The reading that the kill switch looked at is older than `max_age_s`.',
    remedy: 'Read the canaries again, or raise `max_age_s`.',
  },
} as const satisfies Record<string, ReasonText>
