# packaging/fill.py fills in a release; `brew update-python-resources pslc` adds what it depends on.
class Pslc < Formula
  include Language::Python::Virtualenv

  desc "Laboratory for SSD write caching: measure, simulate, explain"
  homepage "https://pypi.org/project/pslc/"
  url "https://files.pythonhosted.org/packages/source/p/pslc/pslc-VERSION.tar.gz"
  sha256 "SHA256"
  license "Apache-2.0"

  depends_on "rust" => :build
  depends_on "numpy"
  depends_on "python@3.13"

  def install
    virtualenv_install_with_resources
  end

  test do
    output = shell_output("#{bin}/pslc run fill --on sim:pm871b-128gb --no-report")
    assert_match "The write cache ends", output
  end
end
