import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  deaCheckDigit,
  findDeaProblem,
  findNpiProblem,
  hasForeignInitial,
  npiCheckDigit,
} from '#src/authorize/prescribers/check-digits.ts'
import { findSubstance, isStricter, scheduleOf } from '#src/authorize/prescribers/schedules.ts'
import { type DrugSchedule, SCHEDULES } from '#src/authorize/prescribers/substances.ts'

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`))

describe('an NPI', () => {
  it.each(['1234567893', '1003000126', '1972902351', '2123456784', '1000000020'])('accepts %s', (npi) => {
    expect(findNpiProblem(npi)).toBeUndefined()
  })

  it.each([
    '1234567890',
    '2123456783',
    '0000000000',
    '',
    '0',
    '12345678930',
    '3123456789',
    '１234567893',
    ' 1234567893',
  ])('refuses %j', (npi) => {
    expect(findNpiProblem(npi)?.code).toBe(/^[12][0-9]{9}$/.test(npi) ? 'wrong_check_digit' : 'invalid_format')
  })

  it('has one right last digit, every wrong digit is found, and the finding says the right one', () => {
    fc.assert(
      fc.property(fc.constantFrom('1', '2'), digits(8), fc.nat(9), fc.nat(8), (first, rest, place, shift) => {
        const right = `${first}${rest}${npiCheckDigit(first + rest)}`
        expect(findNpiProblem(right)).toBeUndefined()
        const wrong = [...right]
        wrong[place] = String((Number(right[place]) + 1 + shift) % 10)
        const problem = findNpiProblem(wrong.join(''))
        expect(problem).toBeDefined()
        if (problem?.code === 'wrong_check_digit') {
          expect(problem.detail).toContain(`would be ${npiCheckDigit(wrong.join('').slice(0, 9))}`)
        }
      }),
    )
  })
})

describe('a DEA number', () => {
  it.each(['AB1234563', 'BB1388568', 'F91234563', 'MB1234563', 'AB1234563-A12'])('accepts %s', (number) => {
    expect(findDeaProblem(number)).toBeUndefined()
  })

  it.each(['AS1111111', 'AD2222222', 'XB1234563', 'RB1234563', 'ab1234563', 'AB1234563-', 'AB1234563-12345678', ''])(
    'refuses %j',
    (number) => {
      expect(findDeaProblem(number)).toBeDefined()
    },
  )

  it('has one right last digit, and the finding says it', () => {
    fc.assert(
      fc.property(digits(6), fc.integer({ min: 1, max: 9 }), (six, shift) => {
        const right = deaCheckDigit(six)
        expect(findDeaProblem(`AB${six}${right}`)).toBeUndefined()
        const wrong = String((Number(right) + shift) % 10)
        expect(findDeaProblem(`AB${six}${wrong}`)).toMatchObject({
          code: 'wrong_check_digit',
          detail: expect.stringContaining(`would be ${right}`),
        })
      }),
    )
  })

  it('warns of another initial than that of the name, and not of a 9', () => {
    expect(hasForeignInitial('AB1234563', 'Baker')).toBe(false)
    expect(hasForeignInitial('AB1234563', 'éclair')).toBe(true)
    expect(hasForeignInitial('AE1234563', 'éclair')).toBe(false)
    expect(hasForeignInitial('F91234563', 'Baker')).toBe(false)
  })
})

describe('the schedule of an order', () => {
  const schedule = fc.constantFrom<DrugSchedule>(...SCHEDULES)

  it('is the strictest of request, formulary and table, with its source', () => {
    const names = { 'Saline 0.9 %': 'none', 'Fentanyl patch': 'II', 'Lyrica 75 mg': 'V' } as const
    fc.assert(
      fc.property(schedule, fc.option(schedule), fc.constantFrom(...Object.keys(names)), (requested, listed, name) => {
        const formulary = new Map(listed === null ? [] : [['1', listed]])
        const said = [requested, listed ?? 'none', names[name as keyof typeof names]] as const
        const decided = scheduleOf({ requested, rxnorm: '1', name }, formulary)
        for (const one of said) expect(isStricter(one, decided.schedule)).toBe(false)
        expect(decided.source).toBe((['request', 'formulary', 'table'] as const)[said.indexOf(decided.schedule)])
      }),
    )
  })

  it('is II for fentanyl that is called none, and names the substance', () => {
    expect(scheduleOf({ requested: 'none', rxnorm: null, name: 'fentaNYL citrate 50 mcg/mL' }, new Map())).toEqual({
      schedule: 'II',
      source: 'table',
      substance: 'fentanyl',
    })
  })

  it.each([
    ['Heroin', 'I'],
    ['3,4-methylenedioxymethamphetamine 120 mg', 'I'],
    ['acetyl fentanyl', 'I'],
    ['Lysergic acid diethylamide', 'I'],
    ['Oxycodone-Acetaminophen 5-325 MG Oral Tablet', 'II'],
    ['OxyCODONEHCl10mg', 'II'],
    ['fеntаnyl', 'II'],
    ['fen\u00adtanyl\u200b', 'II'],
    ['ｆｅｎｔａｎｙｌ', 'II'],
    ['FENTANÝL', 'II'],
    ['dexmethylphenidate XR', 'II'],
    ['codeine sulfate 30 mg', 'II'],
    ['Acetaminophen with Codeine #3', 'III'],
    ['codeine, oxycodone and aspirin', 'II'],
    ['Testosterone cypionate 200 mg/ml', 'III'],
    ['Buprenorphine/naloxone film', 'III'],
    ['zolpidem tartrate', 'IV'],
    ['γ-hydroxybutyric acid', 'I'],
    ['diphenoxylate HCl 2.5 mg and atropine 0.025 mg', 'V'],
    ['pregabalin', 'V'],
  ])('finds %j in schedule %s', (name, expected) => {
    expect(findSubstance(name)?.schedule).toBe(expected)
  })

  it.each([
    'Apomorphine',
    'naloxone',
    'Docusate (Doc-Q-Lace)',
    'amoxicillin 500 mg',
    'cannabidiol',
    'dextromethorphan',
    '',
  ])('finds nothing in %j', (name) => {
    expect(findSubstance(name)).toBeUndefined()
  })
})
