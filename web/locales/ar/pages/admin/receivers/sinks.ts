import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { adminSinksMessages as english } from '../../../../en/pages/admin/receivers/sinks.ts'
import { counted, numberOf } from '../../../format.ts'

const eventForms = {
  zero: 'لا ينتظر أي حدث',
  one: 'حدث واحد ينتظر',
  two: 'حدثان ينتظران',
  few: '# أحداث تنتظر',
  many: '# حدثًا ينتظر',
  other: '# حدث ينتظر',
}

/** Holds the messages about the receivers of the audit log, for operators. In Arabic. */
export const adminSinksMessages: typeof english = {
  title: 'المستقبلون',
  about: 'أين يُرسَل سجل التدقيق، حتى لا يستطيع من يستولي على هذه الخدمة تغييره.',
  none: 'لا مستقبِل بعد',
  add: 'إضافة مستقبِل',
  addNow: 'إضافة',
  added: 'يتلقى المستقبِل الأحداث من الآن فصاعدًا.',
  kind: 'كيف يتلقى الأحداث',
  kinds: {
    http: { label: isolate('HTTP'), about: 'طلبات موقّعة فيها قوائم أحداث.' },
    syslog: { label: isolate('Syslog'), about: `رسائل عبر ${isolate('TLS')}.` },
  },
  key: 'الاسم',
  keyHint: 'أحرف لاتينية صغيرة وأرقام وشرطات.',
  url: 'العنوان',
  urlHints: {
    http: `يبدأ بـ ${isolate('https://')}`,
    syslog: `مثل ${isolate('tls://siem.example.com:6514')}`,
  },
  urlRefused: `لا يمكن استخدام هذا العنوان. يجب أن يكون عامًا، أو مذكورًا في ${isolate('OUTBOUND_NETWORKS')}.`,
  authorization: isolate('Authorization'),
  authorizationHint: 'اختياري. يُحفظ مشفّرًا ولا يُعرض مرة أخرى.',
  authorizationProblem: (max) => `${max} حرف على الأكثر: أحرف وأرقام ورموز من ${isolate('ASCII')}، ومسافات.`,
  secret: 'سر المستقبِل',
  secretWhat: 'تُوقَّع به الطلبات. احفظه الآن، فلن يُعرض مرة أخرى.',
  secretCopied: 'السر',
  stored: 'حفظته',
  paused: 'متوقف مؤقتًا',
  delivered: (moment) => `آخر تسليم ${moment}`,
  neverDelivered: 'لم يُسلَّم شيء بعد',
  waiting: (count) => counted(count, eventForms),
  faults: {
    address_not_allowed: 'عنوان خاص',
    unreachable: 'لا يمكن الوصول إليه',
    certificate_invalid: 'شهادة غير صالحة',
    timed_out: 'لا رد',
    rejected: 'مرفوض',
    not_signed: 'فُقد السر',
  },
  actions: (key) => `إجراءات ${isolate(key)}`,
  test: {
    open: 'اختبار',
    title: (key) => `اختبار ${isolate(key)}`,
    what: 'يرسل حدثًا واحدًا فورًا.',
    now: 'إرسال',
    arrived: 'وصل الحدث.',
    failed: (fault) => `لم يصل: ${fault}.`,
  },
  pause: {
    open: 'إيقاف مؤقت',
    title: (key) => `إيقاف ${isolate(key)} مؤقتًا؟`,
    what: 'لا يتلقى أحداثًا حتى يُستأنف، ثم يتلقى كل ما فاته.',
    done: (key) => `توقف ${isolate(key)} مؤقتًا.`,
  },
  resume: {
    open: 'استئناف',
    title: (key) => `استئناف ${isolate(key)}؟`,
    what: 'يتلقى كل الأحداث التي فاتته.',
    done: (key) => `يتلقى ${isolate(key)} الأحداث من جديد.`,
  },
  replay: {
    open: 'إعادة الإرسال',
    title: (key) => `إعادة إرسال الأحداث إلى ${isolate(key)}`,
    after: 'بعد الحدث رقم',
    hint: (cursor) => `من ${numberOf(0)} إلى ${isolate(cursor)}. الرقم ${numberOf(0)} يرسل كل الأحداث.`,
    now: 'إعادة الإرسال',
    done: (key) => `يتلقى ${isolate(key)} هذه الأحداث من جديد.`,
  },
  rotate: {
    open: 'سر جديد',
    title: (key) => `سر جديد لـ ${isolate(key)}؟`,
    what: 'يوقّع السر الحالي أيضًا مدة يوم. يُبلَّغ المستقبِل قبل ذلك، ويتلقى المالكون رسالة بريد.',
    done: 'يوقّع السر الجديد من الآن فصاعدًا.',
  },
  remove: {
    open: 'إزالة',
    title: (key) => `إزالة ${isolate(key)}؟`,
    what: 'لا يتلقى أحداثًا بعد ذلك. يُبلَّغ قبلها، ويتلقى المالكون رسالة بريد.',
    done: (key) => `أُزيل ${isolate(key)}.`,
  },
}
