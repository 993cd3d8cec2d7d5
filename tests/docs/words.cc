// The program of docs/c++.md.
#include <istream>
#include <map>
#include <sstream>
#include <string>

static void add_word(std::map<std::string, int> &words, const std::string &word)
{
    words[word]++;
}

static int count_words(std::istream &text)
{
    std::map<std::string, int> words;
    std::string word;
    while (text >> word)
        add_word(words, word);
    return static_cast<int>(words.size());
}

int main()
{
    std::string text;
    for (int i = 0; i < 2000; i++)
        text += "word" + std::to_string(i % 100) + " ";
    std::istringstream stream(text);
    return count_words(stream) == 100 ? 0 : 1;
}
