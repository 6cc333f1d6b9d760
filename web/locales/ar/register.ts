import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { registerMessages as english } from '../en/register.ts'
import { numberOf } from './format.ts'

const handleRule = `من ${numberOf(3)} إلى ${numberOf(32)} حرفًا لاتينيًا أو رقمًا أو نقطة أو شَرطة أو شَرطة سفلية`

/** Holds the messages for registering, signing in to the account and recovering it. In Arabic. */
export const registerMessages: typeof english = {
  register: {
    title: 'إنشاء حساب',
    lead: 'اختر اسم مستخدم. سيُنشئ جهازك مفتاح مرور، فلا حاجة إلى كلمة مرور.',
    steps: 'خطوات إنشاء الحساب',
    username: 'اسم المستخدم',
    passkey: 'مفتاح المرور',
    recoveryCode: 'رمز الاسترداد',
    handle: 'اسم المستخدم',
    handleRule: `استخدم ${handleRule}.`,
    handleAvailable: 'متاح.',
    displayName: 'الاسم المعروض',
    create: 'إنشاء حساب',
    haveAccount: 'هل لديك حساب بالفعل؟',
    login: 'تسجيل الدخول',
    handleEnds: 'يجب أن يبدأ وينتهي بحرف أو رقم.',
    displayNameInvalid: `أدخل اسمًا لا يزيد على ${numberOf(80)} حرفًا.`,
    handleTaken: 'محجوز. جرّب اسمًا آخر.',
    madeTitle: 'مفتاح المرور جاهز',
    touchAgainWhy: 'استخدمه مرة أخرى لفتح قفل مفاتيح التشفير.',
    touchAgain: 'استخدام مفتاح المرور مرة أخرى',
    withoutPrf: 'المتابعة برمز الاسترداد فقط',
    unfinished: 'أوشكت على الانتهاء',
    unfinishedLead: 'مفتاح المرور موجود، لكن حسابك ليس جاهزًا بعد.',
    finish: 'إنهاء',
    startOver: 'البدء من جديد',
    presentTitle: 'سجّلت الدخول بالفعل',
    presentLead: 'هذا المتصفح مسجّل الدخول إلى حساب',
    continueAs: (name) => `المتابعة باسم ${isolate(name)}`,
    createAnother: 'تسجيل الخروج وإنشاء حساب آخر',
  },

  recovery: {
    title: 'احفظ رمز الاسترداد',
    why: 'إذا فقدت مفاتيح المرور، فهذا الرمز هو الطريق الوحيد للعودة إلى حسابك. نحن لا نراه أبدًا ولا يمكننا استبداله.',
    whyWithoutPrf:
      'يمكن لمفتاح المرور هذا تسجيل دخولك، لكنه لا يستطيع فتح قفل مفاتيحك، لذلك ستحتاج إلى هذا الرمز. ' +
      'نحن لا نراه أبدًا ولا يمكننا استبداله.',
    label: 'رمز الاسترداد',
    download: 'تنزيل',
    print: 'طباعة',
    kept: {
      copied: 'تم النسخ. الصقه في مكان آمن، مثل مدير كلمات المرور.',
      downloaded: 'تم التنزيل. انقل الملف إلى مكان آمن ليس هذا الجهاز.',
      printed: 'احتفظ بالصفحة المطبوعة في مكان آمن.',
    },
    saved: 'لقد حفظته',
    savedAndContinue: 'لقد حفظته، متابعة',
    savedAndContinueTo: (app) => `لقد حفظته، المتابعة إلى ${isolate(app)}`,
    countsOnce: 'يسري الرمز عندما تؤكد أنك حفظته.',
    fileName: 'recovery-code.txt',
    fileText: (code, host, handle, service) =>
      `رمز الاسترداد لحساب ${service}\n\n${code}\n\nالحساب: ${handle}\nالموقع: ${host}\n\nاستخدم هذا الرمز ` +
      `للعودة إلى حسابك وفتح قفل مفاتيحك إذا فقدت مفاتيح المرور. احتفظ به بعيدًا عن هذا الجهاز.\n`,
    printedAccount: 'الحساب',
    printedSite: 'الموقع',
    printedOn: 'تاريخ الإنشاء',
    printedUse:
      'استخدم هذا الرمز للعودة إلى حسابك وفتح قفل مفاتيحك إذا فقدت مفاتيح المرور. ' +
      'احتفظ به بعيدًا عن الأجهزة التي تسجّل الدخول بها.',
    missingTitle: 'لم يُحفظ رمز الاسترداد بعد',
    missing: 'إذا فقدت مفاتيح المرور، فستفقد حسابك: ليس لديك رمز استرداد يعمل. سيُنشئ مفتاح المرور رمزًا جديدًا الآن.',
    create: 'إنشاء رمز استرداد',
    exists: 'هناك رمز استرداد محفوظ بالفعل',
    existsWhy: 'حفظت رمزًا في نافذة أخرى أو على جهاز آخر. ذلك الرمز هو الساري، وليس الرمز المعروض هنا.',
    continue: 'متابعة',
    later: 'لاحقًا',
    keysGone: 'تعذّر العثور على مفاتيحك',
    keysGoneWhy:
      'تقول هذه الخدمة إنه لا توجد مفاتيح في حسابك، مع أنها كانت موجودة من قبل. لم يُستبدل أي شيء. ' +
      'تواصل مع مشغّل هذه الخدمة.',
  },

  login: {
    title: 'تسجيل الدخول',
    handle: 'اسم المستخدم أو بريد العمل',
    handleHint: 'اختياري: مفتاح المرور يعرف حسابك.',
    workHint: 'عنوان العمل ينقلك إلى تسجيل الدخول لدى شركتك.',
    signIn: 'تسجيل الدخول بمفتاح مرور',
    anotherPasskey: 'استخدام مفتاح مرور آخر',
    withSso: 'المتابعة عبر شركتك',
    continueAs: (name) => `المتابعة باسم ${isolate(name)}`,
    lastHere: 'استُخدم في هذا المتصفح من قبل',
    forget: (name) => `نسيان ${isolate(name)} في هذا المتصفح`,
    forgotten: (name) => `لم يعد هذا المتصفح يعرض ${isolate(name)}.`,
    or: 'أو',
    elsewhere: 'مفتاح المرور على جهاز آخر',
    elsewhereHow:
      'ابدأ تسجيل الدخول، واختر «هاتف أو جهاز لوحي» في نافذة المتصفح، ' +
      'وامسح الرمز الذي تعرضه ضوئيًا. أبقِ البلوتوث مشغّلًا.',
    unsupported: 'لا يستطيع هذا المتصفح استخدام مفاتيح المرور',
    unsupportedHow: 'حدّثه، أو افتح هذه الصفحة في متصفح آخر أو على جهاز آخر.',
    newHere: 'أول مرة هنا؟',
    register: 'إنشاء حساب',
    noPasskey: 'هل فقدت مفاتيح المرور؟',
    recover: 'استخدام رمز الاسترداد',
    atWork: 'هل تسجّل الدخول من أجل العمل؟',
    withOrganization: 'تسجيل الدخول عبر مؤسستك (SSO)',
    proveTitle: 'أكّد أنك أنت',
    proveLead: 'أنت على وشك تغيير شيء مهم. استخدم مفتاح المرور مرة أخرى.',
    prove: 'التأكيد بمفتاح المرور',
    continueTo: (app) => `للمتابعة إلى ${isolate(app)}`,
    unknownDomain: 'لا توجد شركة تستخدم SSO لنطاق البريد هذا. سجّل الدخول باسم المستخدم ومفتاح المرور.',
  },
}
