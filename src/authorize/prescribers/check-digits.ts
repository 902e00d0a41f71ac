// Numbers of prescribers: the NPI (45 CFR 162.406) and the DEA registration number. A check digit tells that a number is wrong and
// not which digit is, so a finding says what the last one would have to be. Pure.

export interface NumberProblem {
  code: 'invalid_format' | 'wrong_check_digit'
  /** A predicate of the field. */
  detail: string
}

/** Issuer prefix of the United States, which the Luhn sum of an NPI includes (ISO/IEC 7812). */
const NPI_PREFIX = '80840'

/** undefined: the number is well-formed. */
export function findNpiProblem(npi: string): NumberProblem | undefined {
  if (!/^[12][0-9]{9}$/.test(npi)) {
    return { code: 'invalid_format', detail: 'must be an NPI: ten digits that begin with 1 or 2' }
  }
  return problemOf('NPI', npi[9], npiCheckDigit(npi.slice(0, 9)))
}

/** The tenth digit of an NPI. @param nine Its other digits. */
export function npiCheckDigit(nine: string): string {
  const digits = [...`${NPI_PREFIX}${nine}`].toReversed().map(Number)
  // Luhn: from the digit before the check digit, every other one is doubled.
  const sum = digits.reduce((total, digit, index) => {
    const weighted = index % 2 === 0 ? digit * 2 : digit
    return total + (weighted > 9 ? weighted - 9 : weighted)
  }, 0)
  return String((10 - (sum % 10)) % 10)
}

// The first letter is the type of registrant: A, B, F and G are practitioners, M is a mid-level practitioner. Distributors
// and the X of the former waiver for buprenorphine are refused. 21 CFR 1301.22(c): a hospital adds a suffix.
const DEA = /^[ABFGM][A-Z9][0-9]{7}(?:-[A-Z0-9]{1,7})?$/

/** undefined: the number is well-formed. */
export function findDeaProblem(number: string): NumberProblem | undefined {
  if (!DEA.test(number)) {
    return {
      code: 'invalid_format',
      detail:
        'must be the DEA number of a prescriber: A, B, F, G or M, a letter or 9, seven digits, and a suffix such as -A12 for a ' +
        'hospital’s number',
    }
  }
  return problemOf('DEA number', number[8], deaCheckDigit(number.slice(2, 8)))
}

/** The last digit of a DEA number. @param six Its other digits. */
export function deaCheckDigit(six: string): string {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = [...six].map(Number)
  return String((first + third + fifth + 2 * (second + fourth + sixth)) % 10)
}

/** The second letter is the initial of the last name at the registration, or 9 for a business: a marriage changes the name. */
export function hasForeignInitial(number: string, lastName: string): boolean {
  const initial = lastName.normalize('NFKD').toUpperCase().match(/[A-Z]/)?.[0]
  return number[1] !== '9' && initial !== undefined && number[1] !== initial
}

function problemOf(what: string, given: string | undefined, right: string): NumberProblem | undefined {
  if (given === right) return undefined
  return {
    code: 'wrong_check_digit',
    detail: `is no ${what}: with these first digits, the last digit of the number would be ${right}, and not ${given}`,
  }
}
