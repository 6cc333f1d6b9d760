import type { organizationKeyMessages as english } from '../../en/pages/organization-keys.ts'
import { isolate } from '@countersign/protocol/formats/registries/languages'

/** Holds the messages of the page that creates and shares organization keys. In Arabic. */
export const organizationKeyMessages: typeof english = {
  title: 'مفاتيح المؤسسة',
  titles: {
    make: (organization) => `إنشاء مفتاح جديد لمؤسسة ${isolate(organization)}`,
    share: (organization) => `مشاركة مفاتيح ${isolate(organization)}`,
    prepare: (organization) => `إعداد مفتاحك لمؤسسة ${isolate(organization)}`,
  },

  what: {
    make:
      'يُنشأ المفتاح في هذا المتصفح ويُشارَك مع هؤلاء الأعضاء. ' +
      'أما من ليس لديه مفتاح تشفير بعد فيحصل عليه لاحقًا. لا يمكننا قراءته.',
    share: 'يحصل هؤلاء الأعضاء على المفاتيح التي تنقصهم. لا يستطيع أحد غيرهم، بمن في ذلك نحن، قراءتها.',
    prepare: 'تُشفَّر مفاتيح المؤسسة لمفتاحك أنت. ليس لهذه الهوية مفتاح بعد، لذلك يُنشأ الآن في هذا المتصفح.',
  },

  alone: 'يُنشأ المفتاح في هذا المتصفح. أنت العضو الوحيد حتى الآن. لا يمكننا قراءته.',

  now: {
    make: 'إنشاء مفتاح',
    share: 'مشاركة المفاتيح',
    prepare: 'إنشاء مفتاح',
  },

  unprepared: 'ليس لدى هؤلاء الأعضاء مفتاح تشفير بعد. أرسل إليهم هذا الرابط ليتمكنوا من إنشاء مفتاح.',
  codeWhy: 'لا يستطيع مفتاح المرور هذا فتح قفل مفاتيحك.',
  nothing: 'لا يوجد ما تفعله هنا.',
  back: 'رجوع',
}
