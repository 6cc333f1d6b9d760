import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { adminWebhooksMessages as english } from '../../../../en/pages/admin/receivers/webhooks.ts'
import { counted, numberOf } from '../../../format.ts'

const typeForms = {
  zero: 'كل الأحداث',
  one: 'نوع واحد من الأحداث',
  two: 'نوعان من الأحداث',
  few: '# أنواع من الأحداث',
  many: '# نوعًا من الأحداث',
  other: '# نوع من الأحداث',
}

/** Holds the messages about the webhooks of the service, for operators. In Arabic. */
export const adminWebhooksMessages: typeof english = {
  title: 'خطاطيف الويب',
  about: 'برامج تُبلَّغ بما يحدث لكل الأشخاص والمجموعات، بلا أسماء ولا عناوين.',
  none: 'لا خطاف ويب بعد',
  add: 'إضافة خطاف ويب',
  addNow: 'إضافة',
  added: 'يتلقى خطاف الويب الأحداث من الآن فصاعدًا.',
  url: 'العنوان',
  urlHint: `يبدأ بـ ${isolate('https://')}`,
  urlRefused: `لا يمكن استخدام هذا العنوان. يجب أن يكون عامًا، أو مذكورًا في ${isolate('OUTBOUND_NETWORKS')}.`,
  events: 'الأحداث',
  selections: {
    all: { label: 'الكل', about: 'والأنواع التي تُضاف لاحقًا أيضًا.' },
    people: { label: 'الأشخاص', about: 'الإنشاء والتغيير والتعليق والتفعيل والحذف.' },
    groups: { label: 'المجموعات', about: 'الإنشاء والتغيير والحذف، ومن ينضم أو يغادر.' },
  },
  secret: 'سر خطاف الويب',
  secretWhat: 'تُوقَّع به الطلبات. احفظه الآن، فلن يُعرض مرة أخرى.',
  secretCopied: 'السر',
  stored: 'حفظته',
  disabled: 'معطّل',
  sent: (moment) => `آخر محاولة ${moment}`,
  neverSent: 'لم يُرسَل شيء بعد',
  gets: (count) => counted(count, typeForms),
  answered: (status) => `الرد ${numberOf(status)}`,
  faults: {
    could_not_connect: 'لا اتصال',
    timed_out: 'لا رد',
    app_disabled: 'معطّل',
    not_signed: 'فُقد السر',
  },
  actions: (host) => `إجراءات ${isolate(host)}`,
  test: {
    open: 'اختبار',
    title: (host) => `اختبار ${isolate(host)}`,
    what: 'يرسل حدثًا واحدًا فورًا. وإذا لم يصل، يُرسَل لاحقًا مرة أخرى.',
    now: 'إرسال',
    arrived: 'وصل الحدث.',
    failed: (fault) => `لم يصل: ${fault}.`,
  },
  disable: {
    open: 'تعطيل',
    title: (host) => `تعطيل ${isolate(host)}؟`,
    what: 'لا يتلقى أحداث هذه المدة، ولا لاحقًا.',
    done: 'عُطّل خطاف الويب.',
  },
  enable: {
    open: 'تفعيل',
    title: (host) => `تفعيل ${isolate(host)}؟`,
    what: 'يتلقى الأحداث من الآن فصاعدًا.',
    done: 'يتلقى خطاف الويب الأحداث من جديد.',
  },
  rotate: {
    open: 'سر جديد',
    title: (host) => `سر جديد لـ ${isolate(host)}؟`,
    what: 'يوقّع السر الحالي أيضًا مدة يوم.',
    done: 'يوقّع السر الجديد من الآن فصاعدًا.',
  },
  remove: {
    open: 'إزالة',
    title: (host) => `إزالة ${isolate(host)}؟`,
    what: 'لا يتلقى أحداثًا بعد ذلك، وتُحذف عمليات تسليمه. ويتلقى المالكون رسالة بريد.',
    done: 'أُزيل خطاف الويب.',
  },
}
