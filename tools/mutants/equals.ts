// Checks without which no answer changes: by the file, the text of the mutant, how many of this text there are, and why. A run
// names an entry whose number is no longer right.

export type Equals = Readonly<Record<string, readonly [times: number, why: string]>>

const ABSENT = 'the check behind it refuses undefined too'
const ENVIRONMENT = 'the environment is compared with that of the key as well'
const FLOW = 'an invalid signature has no type, no payload and no revocation'
const LIBRARY = 'the library that verifies next refuses it too'
const LIST = 'a list has no members of these names'
const MESSAGE = 'it chooses words for people'
const PIECES = 'it decides when a part is parsed, and not what it says'
const PROTOTYPE = 'no prototype has members of these names'
const SIZE = 'it bounds memory and time, and a text of its length would be larger than all cases together'
const TYPES = 'it is for the type checker: it can not be'

export const EQUALS: Readonly<Record<string, Equals>> = {
  'clients/typescript/src/verify/json-scan.ts': {
    'text.charCodeAt(0) === 0xfeff -> false': [1, MESSAGE],
    "fail(scan, 0, 'malformed', 'a byte order mark is not allowed') -> ;": [1, MESSAGE],
    'scan.isEscaped -> true': [1, 'the parser reads a name without escapes as its own text'],
    'scan.piece === Number.POSITIVE_INFINITY -> true': [1, PIECES],
    'scan.piece === Number.POSITIVE_INFINITY -> false': [1, PIECES],
    'scan.at >= scan.pauseAt -> false': [1, PIECES],
    'scan.at >= scan.pauseAt || scan.at - memberAt >= scan.piece -> false': [1, PIECES],
    'scan.at - memberAt >= scan.piece -> false': [1, PIECES],
    'endAt - runAt >= scan.piece -> false': [1, PIECES],
    'members.length + elements.length === 0 -> false': [1, PIECES],
  },
  'clients/typescript/src/verify/json-tokens.ts': {
    'integerDigits <= 15 && fractionDigits <= 300 && !hasExponent -> false': [1, 'these numbers pass the next check'],
    'Number(text.slice(start, scan.at)) === 0 -> true': [1, MESSAGE],
    'Number(text.slice(start, scan.at)) === 0 -> false': [1, MESSAGE],
  },
  'clients/typescript/src/verify/verify-intent-token.ts': {
    'claims.nbf !== undefined -> true': [1, 'a comparison with undefined is false'],
  },
  'clients/typescript/src/verify/claims.ts': {
    'Array.isArray(value) -> false': [1, LIST],
    'Object.hasOwn(value, name) -> true': [1, PROTOTYPE],
    "env: (value) => value === 'sandbox' || value === 'live', -> gone": [1, ENVIRONMENT],
    'value === undefined -> false': [1, ABSENT],
    'idx !== undefined -> true': [1, ABSENT],
    'uri !== undefined -> true': [1, ABSENT],
    'credential !== undefined -> true': [1, ABSENT],
    'at !== undefined -> true': [1, ABSENT],
  },
  'clients/typescript/src/verify/records.ts': {
    'jws.length > MAX_CHARACTERS -> false': [1, SIZE],
    '!Array.isArray(value) -> true': [1, LIST],
  },
  'src/authorize/passkeys/ceremony.ts': {
    'numbers.length === 2 -> true': [1, LIBRARY],
    'first !== undefined -> true': [1, LIBRARY],
    "typeof data.origin !== 'string' -> false": [1, 'a list of texts has no other value'],
  },
  'clients/typescript/src/verify/merkle.ts': {
    'seed === undefined -> false': [1, 'an empty path does not end at the top, as the sizes differ'],
  },
  'clients/typescript/src/verify/checkpoint.ts': {
    "env === 'sandbox' || env === 'live' -> true": [1, ENVIRONMENT],
  },
  'clients/typescript/src/verify/ledger.ts': {
    'head === undefined -> false': [3, 'head and tree are set together'],
    'tree === undefined -> false': [5, 'head and tree are set together, and lines before the head are refused'],
    'tree === undefined || head === undefined -> false': [1, TYPES],
    'head !== undefined -> true': [1, 'without a head both sizes are 0'],
  },
  'clients/typescript/src/verify/packet.ts': {
    'bytes.length > MAX_BYTES -> false': [1, SIZE],
    '!verdict.isValid -> false': [1, FLOW],
    'earliest === undefined -> false': [1, 'an absent revocation and one that is undefined are the same'],
  },
  'clients/typescript/src/verify/packet-attestation.ts': {
    'result === null -> false': [1, TYPES],
    'verdict.isValid -> true': [2, FLOW],
    'one.result === null -> false': [1, 'without a result no signature was found invalid'],
  },
  'commands/evidence/check-video.ts': {
    'stream === undefined -> true': [1, 'the source is part of the words of a finding only'],
    'stream === undefined -> false': [1, 'the source is part of the words of a finding only'],
    'listed !== undefined -> true': [1, 'the schema demands the digest that was expected'],
    'evidence === undefined -> false': [1, 'without evidence there is no first problem'],
    "typeof one === 'string' -> true": [1, 'the list is compared with texts'],
  },
  'clients/typescript/src/verify/packet-findings.ts': {
    'isOk -> true': [1, MESSAGE],
    'isOk -> false': [1, MESSAGE],
    '!verdict.isValid -> false': [1, FLOW],
  },
  'clients/typescript/src/verify/packet-file.ts': {
    'at === -1 -> false': [2, 'the bytes there are too few to be a seal, or have no length'],
    'length > MAX_PACKET_BYTES -> false': [1, SIZE],
    '!Number.isSafeInteger(length) -> false': [1, 'no number of bytes is NaN'],
  },
}
