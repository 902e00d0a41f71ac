// The controlled substances of 21 CFR 1308.11 to 1308.15, by section and paragraph: generic names, and names that the notes of the
// regulation give as "other names". Collected by hand in autumn 2025, and no official copy. Chemical names, groups that are defined by
// structure (fentanyl-related substances, synthetic cannabimimetic agents) and positional isomers have no name to match.
// Abbreviations that are also words of other products, such as DOC and SPA, are left out. A scheduling action that is newer than this
// file goes into an account's formulary at once, and here with the next version.

/** In the order of control: a higher one is stricter. */
export const SCHEDULES = ['none', 'V', 'IV', 'III', 'II', 'I'] as const
export type DrugSchedule = (typeof SCHEDULES)[number]
/** Schedules of controlled substances, strictest first. */
export const CONTROLLED = ['I', 'II', 'III', 'IV', 'V'] as const satisfies DrugSchedule[]
export type ControlledSchedule = (typeof CONTROLLED)[number]

interface SubstanceGroup {
  schedule: ControlledSchedule
  /** Section and paragraph of 21 CFR, or what the names are beside those of the regulation. */
  cfr: string
  /** Names, separated by commas, in lower case. Hyphens and spaces count the same. */
  names: string
}

export const SUBSTANCES: readonly SubstanceGroup[] = [
  {
    schedule: 'I',
    cfr: '1308.11(b) opiates',
    names: `acetyl alpha methylfentanyl, acetylmethadol, acetyl fentanyl, acetylfentanyl, acryl fentanyl, acryloylfentanyl, ah 7921,
      allylprodine, alphacetylmethadol, alphameprodine, alphamethadol, alpha methylfentanyl, alpha methylthiofentanyl,
      alpha methyl butyryl fentanyl, benzethidine, betacetylmethadol, beta hydroxyfentanyl, beta hydroxy 3 methylfentanyl,
      beta hydroxythiofentanyl, beta methyl fentanyl, beta phenyl fentanyl, betameprodine, betamethadol, betaprodine, brorphine,
      butonitazene, butyryl fentanyl, butyrylfentanyl, clonitazene, crotonyl fentanyl, cyclopentyl fentanyl,
      cyclopropyl fentanyl, dextromoramide, diampromide, diethylthiambutene, difenoxin, dimenoxadol, dimepheptanol,
      dimethylthiambutene, dioxaphetyl butyrate, dipipanone, ethylmethylthiambutene, etodesnitazene, etazene, etonitazene,
      etoxeridine, fentanyl carbamate, flunitazene, fluoroisobutyryl fentanyl, 4 fluoroisobutyryl fentanyl, furanyl fentanyl,
      furethidine, hydroxypethidine, isobutyryl fentanyl, isotonitazene, isovaleryl fentanyl, ketobemidone, levomoramide,
      levophenacylmorphan, meta fluorofentanyl, meta fluoroisobutyryl fentanyl, methoxyacetyl fentanyl, metodesnitazene,
      metonitazene, 3 methylfentanyl, 3 methylthiofentanyl, morpheridine, mppp, mt 45, n pyrrolidino etonitazene, etonitazepyne,
      n piperidinyl etonitazene, etonitazepipne, n desethyl isotonitazene, noracymethadol, norlevorphanol, normethadone,
      norpipanone, ocfentanil, ortho fluoroacryl fentanyl, ortho fluorobutyryl fentanyl, ortho fluorofentanyl,
      ortho fluoroisobutyryl fentanyl, ortho methyl acetylfentanyl, ortho methyl methoxyacetyl fentanyl, para chloroisobutyryl fentanyl,
      para fluorobutyryl fentanyl, para fluorofentanyl, para fluoro furanyl fentanyl, para methoxybutyryl fentanyl,
      para methylfentanyl, pepap, phenadoxone, phenampromide, phenomorphan, phenoperidine, phenyl fentanyl, benzoyl fentanyl,
      piritramide, proheptazine, properidine, propiram, protonitazene, racemoramide, tetrahydrofuranyl fentanyl, thenylfentanyl,
      thiofentanyl, thiofuranyl fentanyl, tilidine, trimeperidine, u 47700, valeryl fentanyl, zipeprol, 2 methyl ap 237,
      bucinnazine`,
  },
  {
    schedule: 'I',
    cfr: '1308.11(c) opium derivatives',
    names: `acetorphine, acetyldihydrocodeine, benzylmorphine, codeine methylbromide, codeine n oxide, cyprenorphine, desomorphine,
      dihydromorphine, drotebanol, heroin, diacetylmorphine, diamorphine, hydromorphinol, methyldesorphine,
      methyldihydromorphine, morphine methylbromide, morphine methylsulfonate, morphine n oxide, myrophine, nicocodeine,
      nicomorphine, normorphine, pholcodine, thebacon`,
  },
  {
    schedule: 'I',
    cfr: '1308.11(d) hallucinogens',
    names: `alpha ethyltryptamine, etryptamine, 4 bromo 2 5 dimethoxyamphetamine, 4 bromo 2 5 dimethoxyphenethylamine,
      2c b, 2 5 dimethoxyamphetamine, 2 5 dimethoxy 4 ethylamphetamine, 2 5 dimethoxy 4 n propylthiophenethylamine, 2c t 7,
      4 methoxyamphetamine, paramethoxyamphetamine, 5 methoxy 3 4 methylenedioxyamphetamine,
      4 methyl 2 5 dimethoxyamphetamine, 3 4 methylenedioxyamphetamine, mda, 3 4 methylenedioxymethamphetamine,
      methylenedioxymethamphetamine, mdma, ecstasy, midomafetamine, 3 4 methylenedioxy n ethylamphetamine, mdea,
      n hydroxy 3 4 methylenedioxyamphetamine, 3 4 5 trimethoxyamphetamine, alpha methyltryptamine,
      5 methoxy n n dimethyltryptamine, 5 meo dmt, mebufotenin, bufotenine, diethyltryptamine, dimethyltryptamine, dmt,
      5 methoxy n n diisopropyltryptamine, 5 meo dipt, ibogaine, lysergic acid diethylamide, lysergide, lsd, marihuana, marijuana,
      cannabis, mescaline, parahexyl, synhexyl, peyote, n ethyl 3 piperidyl benzilate, n methyl 3 piperidyl benzilate, psilocybin,
      psilocybine, psilocyn, psilocin, tetrahydrocannabinols, tetrahydrocannabinol, ethylamine analog of phencyclidine,
      cyclohexamine, pyrrolidine analog of phencyclidine, rolicyclidine, thiophene analog of phencyclidine, tenocyclidine,
      4 methylmethcathinone, mephedrone, 3 4 methylenedioxypyrovalerone, methylenedioxypyrovalerone, mdpv, 2c e, 2c d,
      2c c, 2c i, 2c t 2, 2c t 4, 2c h, 2c n, 2c p, 3 4 methylenedioxy n methylcathinone, methylone, jwh 018, am678, jwh 073,
      jwh 019, jwh 200, jwh 250, jwh 081, jwh 122, jwh 398, am2201, am694, sr 19, rcs 4, sr 18, rcs 8, jwh 203, cp 47497,
      cannabicyclohexanol, ur 144, xlr11, akb48, apinaca, 25i nbome, 25c nbome, 25b nbome, marihuana extract, 4 methyl n ethylcathinone,
      4 mec, 4 methyl alpha pyrrolidinopropiophenone, 4 meppp, alpha pyrrolidinopentiophenone, alpha pvp, butylone, pentedrone,
      pentylone, naphyrone, alpha pyrrolidinobutiophenone, alpha pbp, ab chminaca, ab pinaca, thj 2201, pb 22, qupic, 5f pb 22,
      ab fubinaca, adb pinaca, adb chminaca, mab chminaca, fub amb, amb fubinaca, 5f adb, 5f mdmb pinaca, 5f amb, 5f apinaca,
      5f akb48, adb fubinaca, mdmb chmica, mdmb fubinaca, ethylone, 4 methoxymethamphetamine, pmma, nm2201, cbl2201, 5f ab pinaca,
      4 cn cumyl butinaca, mmb chmica, amb chmica, 5f cumyl p7aica, n ethylpentylone, ephylone, n ethylhexedrone,
      alpha pyrrolidinohexanophenone, alpha php, 4 methyl alpha ethylaminopentiophenone, 4 meap, mphp, pv8,
      4 chloro alpha pyrrolidinovalerophenone, 4 chloro alpha pvp, methoxetamine, mxe, 5f edmb pinaca, 5f mdmb pica, fub akb48,
      fub 144, 5f cumyl pinaca, eutylone, mdmb 4en pinaca, 4f mdmb bica, 4f mdmb binaca, adb 4en pinaca, alpha pihp, 3 mmc,
      3 methylmethcathinone, cumyl pegaclone, 5f cumyl pegaclone, mmb fubica, 2 5 dimethoxy 4 iodoamphetamine, doi,
      2 5 dimethoxy 4 chloroamphetamine`,
  },
  {
    schedule: 'I',
    cfr: '1308.11(e) depressants',
    names: `gamma hydroxybutyric acid, gamma hydroxybutyrate, ghb, 4 hydroxybutanoic acid, mecloqualone, methaqualone, etizolam,
      flualprazolam, clonazolam, flubromazolam, diclazepam`,
  },
  {
    schedule: 'I',
    cfr: '1308.11(f) stimulants',
    names: `amineptine, aminorex, n benzylpiperazine, benzylpiperazine, bzp, cathinone, 4 4 dimethylaminorex, 4 4 dmar, fenethylline,
      mesocarb, methcathinone, 4 methylaminorex, methiopropamine, n ethylamphetamine, n n dimethylamphetamine,
      4 chloromethcathinone, 4 cmc, 4 fluoroamphetamine`,
  },
  {
    schedule: 'II',
    cfr: '1308.12(b) opium, opiates of vegetable origin and coca',
    names: `opium, raw opium, opium extracts, opium fluid, powdered opium, granulated opium, tincture of opium, paregoric, codeine,
      dihydroetorphine, ethylmorphine, etorphine hydrochloride, etorphine, hydrocodone, hydromorphone, metopon, morphine,
      noroxymorphone, oripavine, oxycodone, oxymorphone, thebaine, opium poppy, poppy straw, coca leaves, coca, cocaine, ecgonine`,
  },
  {
    schedule: 'II',
    cfr: '1308.12(c) opiates',
    names: `alfentanil, alphaprodine, anileridine, bezitramide, dextropropoxyphene bulk, carfentanil, dihydrocodeine, diphenoxylate,
      fentanyl, isomethadone, levo alphacetylmethadol, levomethadyl, levacetylmethadol, laam, levomethorphan, levorphanol,
      metazocine, methadone, levomethadone, methadone intermediate, moramide intermediate, meperidine, pethidine,
      meperidine intermediate, oliceridine, phenazocine, piminodine, racemethorphan, racemorphan, remifentanil, sufentanil,
      tapentadol, thiafentanil`,
  },
  {
    schedule: 'II',
    cfr: '1308.12(d) stimulants',
    names: `amphetamine, amfetamine, dextroamphetamine, dexamphetamine, dexamfetamine, levoamphetamine, methamphetamine,
      metamfetamine, phenmetrazine, methylphenidate, dexmethylphenidate, lisdexamfetamine, lisdexamphetamine`,
  },
  {
    schedule: 'II',
    cfr: '1308.12(e) depressants',
    names: 'amobarbital, glutethimide, pentobarbital, phencyclidine, pcp, secobarbital',
  },
  { schedule: 'II', cfr: '1308.12(f) hallucinogens', names: 'nabilone, dronabinol oral solution' },
  {
    schedule: 'II',
    cfr: '1308.12(g) immediate precursors',
    names: `phenylacetone, 1 phenylcyclohexylamine, 1 piperidinocyclohexanecarbonitrile, 4 anilino n phenethylpiperidine, anpp,
      norfentanyl`,
  },
  {
    schedule: 'III',
    cfr: '1308.13(b) stimulants',
    names: 'benzphetamine, benzfetamine, chlorphentermine, clortermine, phendimetrazine',
  },
  {
    schedule: 'III',
    cfr: '1308.13(c) depressants, with derivatives of barbituric acid',
    names: `barbituric acid, barbiturate, butalbital, butabarbital, secbutabarbital, butobarbital, butethal, aprobarbital, allobarbital,
      talbutal, thiopental, thiamylal, hexobarbital, heptabarbital, cyclobarbital, vinbarbital, probarbital, chlorhexadol,
      embutramide, ketamine, esketamine, arketamine, lysergic acid, lysergic acid amide, methyprylon, perampanel,
      sulfondiethylmethane, sulfonethylmethane, sulfonmethane, sodium oxybate, oxybate, oxybates, tiletamine, zolazepam`,
  },
  { schedule: 'III', cfr: '1308.13(d) nalorphine', names: 'nalorphine' },
  { schedule: 'III', cfr: '1308.13(e) narcotics', names: 'buprenorphine' },
  {
    schedule: 'III',
    cfr: '1308.13(f) anabolic steroids, 21 CFR 1300.01',
    names: `anabolic steroid, anabolic steroids, androstanediol, androstanedione, androstenediol, androstenedione, bolasterone,
      boldenone, boldione, calusterone, clostebol, dehydrochloromethyltestosterone, desoxymethyltestosterone, madol,
      dihydrotestosterone, androstanolone, stanolone, drostanolone, dromostanolone, ethylestrenol, fluoxymesterone, formebolone,
      furazabol, 13 beta ethyl 17 beta hydroxygon 4 en 3 one, mestanolone, mesterolone, methandienone, metandienone,
      methandrostenolone, methandriol, methasterone, methenolone, metenolone, methyldienolone, methyltestosterone, methyltrienolone,
      metribolone, mibolerone, nandrolone, norandrostenediol, norandrostenedione, norbolethone, norclostebol, norethandrolone,
      normethandrolone, oxandrolone, oxymesterone, oxymetholone, prostanozol, stanozolol, stenbolone, testolactone, testosterone,
      tetrahydrogestrinone, trenbolone`,
  },
  { schedule: 'III', cfr: '1308.13(g) hallucinogens', names: 'dronabinol' },
  {
    schedule: 'IV',
    cfr: '1308.14(b) narcotics',
    names: 'dextropropoxyphene, propoxyphene, tramadol',
  },
  {
    schedule: 'IV',
    cfr: '1308.14(c) depressants',
    names: `alfaxalone, alprazolam, barbital, brexanolone, bromazepam, camazepam, carisoprodol, chloral betaine, chloral hydrate,
      chlordiazepoxide, clobazam, clonazepam, clorazepate, clotiazepam, cloxazolam, daridorexant, delorazepam, diazepam,
      dichloralphenazone, estazolam, ethchlorvynol, ethinamate, ethyl loflazepate, fludiazepam, flunitrazepam, flurazepam,
      fospropofol, halazepam, haloxazolam, ketazolam, lemborexant, loprazolam, lorazepam, lormetazepam, mebutamate, medazepam,
      meprobamate, methohexital, methylphenobarbital, mephobarbital, midazolam, nimetazepam, nitrazepam, nordiazepam, oxazepam,
      oxazolam, paraldehyde, petrichloral, phenobarbital, phenobarbitone, pinazepam, prazepam, quazepam, remimazolam, suvorexant,
      temazepam, tetrazepam, tofisopam, triazolam, zaleplon, zolpidem, zopiclone, eszopiclone, zuranolone`,
  },
  { schedule: 'IV', cfr: '1308.14(e) lorcaserin', names: 'lorcaserin' },
  {
    schedule: 'IV',
    cfr: '1308.14(f) stimulants',
    names: `cathine, diethylpropion, amfepramone, fencamfamin, fenproporex, mazindol, mefenorex, modafinil, armodafinil, pemoline,
      phentermine, pipradrol, serdexmethylphenidate, sibutramine, solriamfetol`,
  },
  { schedule: 'IV', cfr: '1308.14(g) other substances', names: 'pentazocine, butorphanol, eluxadoline' },
  {
    schedule: 'V',
    cfr: '1308.15(d) stimulants',
    names: 'pyrovalerone',
  },
  {
    schedule: 'V',
    cfr: '1308.15(e) depressants',
    names: 'brivaracetam, cenobamate, ezogabine, retigabine, ganaxolone, lacosamide, lasmiditan, pregabalin',
  },
  // The regulation controls a product by whatever name, also of a brand, and lists none. These are common in the United States.
  {
    schedule: 'II',
    cfr: 'brand names of substances of 1308.12',
    names: `oxycontin, roxicodone, oxaydo, xtampza, percocet, percodan, endocet, roxybond, vicodin, lortab, lorcet, norco, hysingla,
      zohydro, dilaudid, exalgo, ms contin, kadian, opana, dolophine, methadose, demerol, duragesic, actiq, fentora, sublimaze,
      sufenta, dsuvia, ultiva, alfenta, nucynta, olinvyk, adderall, mydayis, dexedrine, zenzedi, evekeo, vyvanse, desoxyn, ritalin,
      concerta, metadate, methylin, quillivant, focalin, daytrana, cotempla, nembutal, seconal, cesamet, syndros,
      subsys, abstral, lazanda, duramorph, infumorph, mitigo, arymo, morphabond, primlev, papaveretum, adzenys, dyanavel, xelstrym,
      procentra, quillichew, jornay, adhansia, relexxii, aptensio, azstarys, goprelto, numbrino, amytal`,
  },
  {
    schedule: 'III',
    cfr: 'brand names of substances of 1308.13',
    names: `suboxone, subutex, zubsolv, bunavail, butrans, belbuca, sublocade, brixadi, ketalar, spravato, xyrem, xywav, lumryz,
      androgel, testim, depo testosterone, aveed, jatenzo, xyosted, oxandrin, anadrol, winstrol, marinol, fycompa, fiorinal, bontril`,
  },
  {
    schedule: 'IV',
    cfr: 'brand names of substances of 1308.14',
    names: `xanax, ativan, valium, klonopin, restoril, halcion, versed, librium, tranxene, serax, doral, onfi, sympazan, ambien, edluar,
      intermezzo, lunesta, sonata, belsomra, dayvigo, quviviq, byfavo, zulresso, zurzuvae, soma, ultram, ultracet, conzip, provigil,
      nuvigil, sunosi, adipex, lomaira, qsymia, belviq, viberzi, stadol, talwin, darvocet`,
  },
  {
    schedule: 'V',
    cfr: 'brand names of substances of 1308.15',
    names: 'lyrica, vimpat, briviact, xcopri, reyvow, ztalmy, potiga, lomotil',
  },
]

interface Preparation {
  schedule: ControlledSchedule
  cfr: string
  /** The substance whose schedule the preparation does not have. */
  substance: string
  /** Any of these beside it makes the preparation. */
  beside: string
}

// Preparations that the regulation puts into another schedule than their substance: by what is beside it. The limits of
// concentration can't be read from a name, so a preparation gets the strictest schedule in which it is a product.
export const PREPARATIONS: readonly Preparation[] = [
  {
    schedule: 'III',
    cfr: '1308.13(e)(1) codeine with other active ingredients',
    substance: 'codeine',
    beside: `acetaminophen, paracetamol, aspirin, acetylsalicylic acid, ibuprofen, butalbital, carisoprodol, caffeine, guaifenesin,
      promethazine, chlorpheniramine, pseudoephedrine, phenylephrine, triprolidine, brompheniramine`,
  },
  {
    schedule: 'III',
    cfr: '1308.13(e)(1) dihydrocodeine with other active ingredients',
    substance: 'dihydrocodeine',
    beside:
      'acetaminophen, paracetamol, aspirin, caffeine, guaifenesin, chlorpheniramine, phenylephrine, brompheniramine',
  },
  { schedule: 'V', cfr: '1308.15(c) diphenoxylate with atropine', substance: 'diphenoxylate', beside: 'atropine' },
  { schedule: 'IV', cfr: '1308.14(b) difenoxin with atropine', substance: 'difenoxin', beside: 'atropine' },
  // 1308.13(e)(1): opium in combination, and paregoric.
  {
    schedule: 'III',
    cfr: '1308.13(e)(1) paregoric',
    substance: 'paregoric',
    beside: 'camphor, camphorated',
  },
]
