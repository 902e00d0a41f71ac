// What to tell somebody who met an error: one entry per row of the failure table, and no code without one. The page
// /docs/errors and the examples of the OpenAPI document are made of it.

import type { FailureCode, FieldError } from './failure.ts'

export interface Guidance {
  /** What happened. */
  happened: string
  /** What to do about it. */
  remedy: string
  /** Whether and when to send the same request again. */
  repeat: string
  /** The parts of an answer that are the code's own. */
  example: { detail: string; errors?: FieldError[]; members?: Record<string, unknown> }
}

const NO = 'No. The same request fails the same way.'
const AFTER_A_WHILE =
  'Yes, the same request, with growing pauses: as long as Retry-After says where it is sent, else one second and twice ' +
  'as long each time. With an Idempotency-Key nothing happens twice.'

export const GUIDANCE = {
  invalid_json: {
    happened: 'The body is not JSON that can be read in one way only.',
    remedy:
      'Let a JSON library write it. Refused are also duplicate members, text that is not UTF-8, whole numbers that a ' +
      'double can not hold, nesting deeper than 32, and anything after the value. `detail` names the byte.',
    repeat: NO,
    example: {
      detail: 'The JSON is refused at byte 26 in /claim/reference: the name appears twice in one object.',
      errors: [
        {
          pointer: '/claim/reference',
          code: 'duplicate_key',
          detail: 'the name appears twice in one object (byte 26)',
        },
      ],
    },
  },
  invalid_request: {
    happened: 'The request was read, and a value, a parameter or a header of it is wrong, missing or unknown.',
    remedy:
      '`errors` names every finding at once: `pointer` leads into the body (RFC 6901), is `?name` for a parameter of ' +
      'the query, or the name of a header. Fix all of them; unknown names are findings too, and the first says which are known.',
    repeat: NO,
    example: {
      detail: 'The request has 2 findings; see errors.',
      errors: [
        { pointer: '/bundle/sensor_hash', code: 'invalid_format', detail: 'must be a SHA-256 in hex' },
        {
          pointer: '/bundel',
          code: 'unknown_field',
          detail:
            'is not known here: known members are external_id, claim, media_type, bundle, assertion, certificate_chain, signature, media',
        },
      ],
    },
  },
  authentication_required: {
    happened: 'The request carries no API key, or not in a form that can be read.',
    remedy:
      'Send `Authorization: Bearer <API_KEY>` or `X-API-Key: <API_KEY>`. A redirect or a proxy may have dropped it.',
    repeat: 'Not without a key.',
    example: { detail: 'Send an API key: "Authorization: Bearer <API_KEY>" or "X-API-Key: <API_KEY>".' },
  },
  invalid_api_key: {
    happened: 'The service does not know this API key.',
    remedy:
      'Compare it with where it came from: keys begin with svc_live_ or svc_test_ and have 32 more characters. Each ' +
      'deployment has keys of its own. A lost key can not be recovered: create another and revoke the lost one.',
    repeat: NO,
    example: {
      detail: 'This API key is not known here. Compare it with where you got it: each deployment has keys of its own.',
    },
  },
  api_key_revoked: {
    happened: 'The API key was revoked. A revocation is final.',
    remedy: 'Use the key that replaced it. The operator of the service creates keys: `npm run admin -- key create`.',
    repeat: NO,
    example: { detail: 'This API key was revoked at 2026-11-02T10:11:12.000Z.' },
  },
  api_key_expired: {
    happened: 'The API key has expired.',
    remedy: 'Create another key. One that is rotated in time overlaps with its successor.',
    repeat: NO,
    example: { detail: 'This API key expired at 2026-11-02T10:11:12.000Z.' },
  },
  insufficient_scope: {
    happened: 'The API key is valid, and lacks the scope of this route.',
    remedy:
      'Use a key with the scope in `required_scope`. Each route requires exactly one; the API reference shows which. `detail` names the scopes that the key has.',
    repeat: NO,
    example: {
      detail: 'This API key lacks the scope "admin"; it has attest, verify.',
      members: { required_scope: 'admin' },
    },
  },
  insufficient_role: {
    happened: 'The user’s role does not allow this.',
    remedy: 'Ask an owner or an admin of the account to do it, or to change the role.',
    repeat: NO,
    example: { detail: 'This needs the role owner or admin.' },
  },
  environment_mismatch: {
    happened: 'An id of live met a key of sandbox, or the other way round. Nothing is shared between the two.',
    remedy: 'Compare the words: svc_test_ keys go with ids that contain _test_, svc_live_ keys with _live_.',
    repeat: NO,
    example: {
      detail: 'The id is of the live environment, and this is a test key: use a key that begins with svc_live_.',
    },
  },
  account_key_required: {
    happened: 'A publishable sandbox key was used for something that belongs to one account.',
    remedy: 'Use a key of an account of your own: `npm start` prints one, and the operator creates others.',
    repeat: NO,
    example: {
      detail:
        'The publishable sandbox keys share one account and can not do this: use a key of an account of your own.',
    },
  },
  not_found: {
    happened: 'There is no such address, or your account has nothing with this id in this environment.',
    remedy:
      'Compare the path, letter by letter and without a slash at its end, and the id. What belongs to another account ' +
      'and what was erased is not found either.',
    repeat: NO,
    example: { detail: 'There is no claim clm_test_01m7x7ennfe7dsmvdzwjp06y9w.' },
  },
  method_not_allowed: {
    happened: 'The address is right, the method is not.',
    remedy: 'The header Allow names the methods that it answers.',
    repeat: NO,
    example: { detail: 'This address answers GET, HEAD, POST, and not PUT.' },
  },
  request_timeout: {
    happened: 'The body arrived too slowly: less than 10 KiB in 10 seconds, or the sender fell silent.',
    remedy: 'Send it over a better line, or a smaller one. Nothing was kept of it.',
    repeat: AFTER_A_WHILE,
    example: { detail: 'The body came too slowly: fewer than 10240 bytes in 10 seconds. Nothing was changed.' },
  },
  conflict: {
    happened: 'The request contradicts what is there: the detail says what.',
    remedy:
      'Usual cases: an `external_id` that names other content already, a claim that was erased, a device key that was ' +
      'revoked, a list that is full. Read what is there, then choose another name, or leave it.',
    repeat: NO,
    example: {
      detail: '/external_id: names a submission with other content',
      errors: [{ pointer: '/external_id', code: 'conflict', detail: 'names a submission with other content' }],
    },
  },
  invalid_state_transition: {
    happened: 'The thing is in a state from which this is not possible.',
    remedy: 'Read it. `allowed` names the states from which it is possible.',
    repeat: 'Only after its state has changed.',
    example: {
      detail: 'Only a failed attestation can be tried again; this one is evaluated.',
      members: { allowed: ['failed'] },
    },
  },
  idempotency_in_progress: {
    happened: 'A request with the same Idempotency-Key is being worked on at this moment.',
    remedy: 'Wait for it. The repeat then shows what the first has made.',
    repeat: 'Yes, the same request with the same key, after as many seconds as Retry-After says.',
    example: { detail: 'A request with this Idempotency-Key is being worked on: try again in a moment.' },
  },
  precondition_failed: {
    happened: '`If-Match` names another version than the current one: it was changed since it was read.',
    remedy: 'Read it again, make the change in what is there now, and send the ETag that came with it.',
    repeat: NO,
    example: { detail: 'The risk policy is at version 4: read it again before you replace it.' },
  },
  payload_too_large: {
    happened: 'The body, a line of it, or the number of its lines is beyond the limit of the route.',
    remedy:
      'Send photos by themselves to POST /v1/media and name their media_id. Split what has more lines than a batch ' +
      'may have. `detail` names the limit.',
    repeat: NO,
    example: { detail: 'The body must not be larger than 20971520 bytes.' },
  },
  unsupported_media_type: {
    happened: 'The Content-Type is none that the route takes, or the body has a content coding.',
    remedy: 'Send one of the types in `detail`, in UTF-8 where it is text, and not compressed.',
    repeat: NO,
    example: { detail: 'Content-Type must be application/json.' },
  },
  range_not_satisfiable: {
    happened: 'The range that was asked for lies outside of the media.',
    remedy: 'Content-Range says how many bytes there are. A download that is whole needs no further range.',
    repeat: NO,
    example: { detail: 'The media has 204811 bytes.' },
  },
  idempotency_key_reused: {
    happened: 'The Idempotency-Key was used within the last 24 hours for another request: another path or body.',
    remedy: 'Make a new key for each thing that you want done, and keep it for repeats of exactly that request.',
    repeat: 'Not with this key.',
    example: {
      detail:
        'This Idempotency-Key belongs to another request to this address: another path or another body. Choose a new key.',
    },
  },
  internal_error: {
    happened: 'An error of the service itself. It was logged.',
    remedy: 'Try again. If it stays, tell us the `request_id`: it leads to the log.',
    repeat: AFTER_A_WHILE,
    example: { detail: 'Something went wrong on our side. If it persists, tell us the request_id.' },
  },
  service_unavailable: {
    happened: 'A part of the service can not be reached, or has too much to do at this moment. Nothing was changed.',
    remedy: 'Try again. Captures lose nothing by waiting: they carry their own time.',
    repeat: AFTER_A_WHILE,
    example: { detail: 'A part of the service can not be reached at the moment. Nothing was changed; try again.' },
  },
} as const satisfies Record<FailureCode, Guidance>

/** The guidance of a code, without the literal types of its entry. */
export function guidanceOf(code: FailureCode): Guidance {
  return GUIDANCE[code]
}
