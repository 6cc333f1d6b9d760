import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { playgroundMessages as english } from '../../en/pages/playground.ts'
import { counted, numberOf } from '../format.ts'

/** Holds the messages of the playground. In Arabic. */
export const playgroundMessages: typeof english = {
  title: 'ساحة الاختبار',
  heading: 'اطّلع على ما يحصل عليه التطبيق',
  guides: 'الأدلة',
  registerApp: 'تسجيل تطبيق',
  position: (step, of) => `الخطوة ${numberOf(step)} من ${numberOf(of)}`,
  back: 'رجوع',
  restart: 'البدء من جديد',
  next: (step) => `التالي: ${step}`,
  done: 'تم',
  steps: {
    'sign-in': {
      name: 'تسجيل الدخول',
      short: 'رمز هوية، تم التحقق منه',
      heading: 'تسجيل الدخول إلى تطبيق تجريبي',
      lead:
        'يرسلك التطبيق إلى تسجيل الدخول ويستلم رمز تفويض. ' +
        'ثم يستبدل الرمز برموز مميزة ويتحقق منها. وأنت ترى كل ما يستلمه.',
    },
    identity: {
      name: 'اختيار هوية أخرى',
      short: 'معرّفات لا يمكن الربط بينها',
      heading: 'اختيار هوية أخرى',
      lead: 'سجّل الدخول من جديد بهوية أخرى. هوياتك عند التطبيق أشخاص مختلفون: لا شيء مما يستلمه يربط بينها.',
    },
    signature: {
      name: 'توقيع دفعة',
      short: 'توقيع، تم التحقق منه',
      heading: 'وقّع دفعة وشاهد التحقق منها',
      lead:
        'يطلب التطبيق توقيعك على نص. ' +
        'وأنت تقرأ النص على صفحة من صفحات هذه الخدمة، فلا يستطيع التطبيق أن يعرض لك شيئًا آخر.',
    },
    delegation: {
      name: 'السماح لتطبيق بالتصرف نيابةً عنك',
      short: 'رمز مميز بحدود',
      heading: 'السماح للتطبيق بالتصرف نيابةً عنك',
      lead:
        'يطلب التطبيق قراءة أحداثك في تطبيق آخر. ' +
        'تسمح بذلك مرة واحدة، ويمكنك إلغاؤه في أي وقت. يعمل رمزه المميز عشر دقائق، وهناك فقط.',
    },
  },
  code: 'ما ينفّذه التطبيق',

  start: 'تسجيل الدخول إلى التطبيق التجريبي',
  startHere: 'تسجيل الدخول عبر نافذة المتصفح (FedCM)',
  signedIn: 'تم تسجيل الدخول',
  gotTitle: 'ما استلمه التطبيق',
  facts: {
    name: 'الاسم',
    username: 'اسم المستخدم',
    sub: 'المعرّف (sub)',
    email: 'البريد الإلكتروني',
    notShared: 'لا تتم مشاركته',
  },
  refusedTitle: 'استلم التطبيق خطأً',
  checks: 'ما تحقق منه التطبيق',
  checkNames: {
    signature: 'التوقيع، تم التحقق منه بمفتاح جهة الإصدار',
    issuer: 'جهة الإصدار',
    audience: 'الجمهور: هذا التطبيق',
    nonce: 'قيمة nonce: تطابق هذا الطلب',
    lifetime: 'لم تنتهِ صلاحيته',
  },
  passed: 'ناجح',
  failed: 'فاشل',
  noNonce: 'لا توجد بعد التجديد، كما هو متوقع',
  response: 'رد الرموز المميزة',
  idToken: 'رمز الهوية (ID token)',
  accessToken: 'رمز الوصول (JWT)',
  userinfo: 'UserInfo',
  header: 'الترويسة',
  claims: 'المطالبات (claims)',
  refresh: 'تجديد الرموز المميزة',
  again: 'تسجيل الدخول من جديد',
  refreshed: (times) =>
    counted(times, {
      one: 'تم التجديد مرة واحدة',
      two: 'تم التجديد مرتين',
      few: 'تم التجديد # مرات',
      many: 'تم التجديد # مرة',
      other: 'تم التجديد # مرة',
    }),
  unasked: 'هذا الرد لا يطابق أي طلب من علامة التبويب هذه. ابدأ من جديد.',
  wrongState: 'قيمة state لا تطابق طلب علامة التبويب هذه. رُفض الرد.',
  wrongIssuer: 'يأتي الرد من جهة إصدار أخرى. تم رفضه.',
  declined: 'لم يسجّل متصفحك دخول أي شخص. حفاظًا على الخصوصية، لا يخبر التطبيق بالسبب.',

  chooseAnother: 'اختيار هوية',
  whatTheAppKnows: 'المستخدمون الذين يعرفهم التطبيق',
  nobodyYet: 'لم يسجّل أحد الدخول بعد.',
  needsAnother: 'اختر هوية غير هذه. إذا كانت لديك هوية واحدة فقط، فأنشئ أخرى أثناء تسجيل الدخول أو في حسابك.',
  unlinkable: 'مستخدمان بمعرّفين. لا يستطيع التطبيق معرفة أن كليهما أنت.',

  signInFirst: 'سجّل الدخول أولًا: يحتاج التطبيق إلى معرفة من أنت.',
  theRequest: 'يطلب منك التطبيق توقيع',
  payment: (reference) => `ادفع 12.00 EUR\nإلى: مكتبة الزاوية\nالمرجع: عرض تجريبي، ${reference}`,
  signAs: 'التوقيع باسم',
  ask: 'القراءة والتوقيع',
  createSigningKey: 'إنشاء مفتاح توقيع',
  openSigning: 'فتح صفحة التوقيع',
  unsigned: {
    denied: 'رفضت الطلب. ليس لدى التطبيق أي توقيع.',
    closed: 'أُغلقت النافذة قبل أن توقّع.',
    blocked: 'حظر متصفحك النافذة.',
  },
  whatYouSigned: 'ما وقّعته',
  signed: 'تم التوقيع',
  signatureChecks: {
    signature: 'التوقيع يطابق المفتاح',
    key: 'المفتاح لك',
    text: 'النص هو الذي أرسله التطبيق',
    recent: 'التوقيع حديث',
  },
  signatureNotes: {
    signature: 'خوارزمية Ed25519، على كل محرف من النص',
    key: 'المفتاح الذي ذكرته الخدمة عندما طلب التطبيق',
    text: 'لا يختلف أي محرف',
    recent: 'تم التوقيع خلال بضع دقائق',
  },
  changeLetter: 'تغيير محرف واحد والتحقق من جديد',
  restoreText: 'استعادة النص',

  askToAct: 'السماح بقراءة التقويم التجريبي',
  calendarAnswer: 'ما أعاده التقويم',
  calendarChecked: 'ما تحقق منه التقويم',
  calendarChecks: {
    signature: 'الرمز المميز أصلي ولم يُلغَ',
    audience: 'الرمز مخصص للتقويم',
    scope: 'فيه الإذن المطلوب',
    lifetime: 'لا يزال صالحًا',
  },
  until: (moment) => `حتى ${isolate(moment)}`,
  delegatedToken: 'الرمز المميز المفوَّض',
  revokeAt: 'يمكنك إلغاء هذا ضمن',
  accountApps: 'تطبيقاتك المرتبطة',
}
