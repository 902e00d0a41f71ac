// Written by `npm run clients` from the routes of the service: change those.

/** Points of each factor. */
export const FACTOR_POINTS: Readonly<Record<string, number>> = {
  device_revoked: 80,
  session_nonce_mismatch: 70,
  signature_invalid: 70,
  no_manifest: 60,
  frame_hash_mismatch: 50,
  sensor_hash_mismatch: 50,
  cert_unknown_ca: 40,
  hardware_backing_absent: 40,
  liveness_check_failed: 40,
  video_manifest_incomplete: 40,
  gps_absent: 30,
  timestamp_stale: 25,
  device_not_enrolled: 20,
  biometric_absent: 10,
}

/** Kinds of entries of the ledger that are kept for longer than the plan's retention. */
export const LONGER_KEPT_KINDS: readonly string[] = [
  'clinician_order',
  'disclosure',
  'mandate_change',
  'mandate_heartbeat',
]
